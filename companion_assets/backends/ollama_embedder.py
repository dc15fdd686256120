"""Embeddings from an Ollama server.

The server truncates long texts silently by default, and one bad text fails its whole batch. So truncation is
switched off, a refused batch is halved until the bad text stands alone, a text that is too long is embedded in
windows, and one that has no vector even alone is reported.
"""

import functools
from collections.abc import Callable, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from companion_assets.backends.estimated_tokenizer import EstimatedTokenizer
from companion_assets.backends.ollama_client import explain, is_over_length, look_up, open_client, status_of
from companion_assets.backends.protocols import Vectors
from companion_assets.backends.retrieval_prefixes import prefixes_for
from companion_assets.backends.vectors import NOT_A_VECTOR, is_usable, refuse_blank, report, unit, windows
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.manifests import EmbedderSpec

if TYPE_CHECKING:
    import ollama
