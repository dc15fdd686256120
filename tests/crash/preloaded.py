"""What the server of `processes` imports before the first fork."""

import warnings

import dagster as dg
import lancedb  # noqa: F401
import pytest  # noqa: F401

import companion_app.cli.indexing  # noqa: F401
import companion_assets.daemon.launching
import companion_assets.definitions  # noqa: F401
from companion_assets.stages.plots import plot_counts
from tests.crash import compare  # noqa: F401

# Both import more on first use. Nothing of LanceDB runs here, so that there is nothing to go wrong at a fork.
with dg.DagsterInstance.ephemeral():
    plot_counts({}, (0, 0))

warnings.filterwarnings("ignore", message="lancedb fork support", category=RuntimeWarning)
