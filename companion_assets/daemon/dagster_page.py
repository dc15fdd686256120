"""What Dagster's own page would ask of its webserver, asked by us: a run, please."""

from collections.abc import Mapping
from typing import Any

import httpx

from companion_assets.daemon.dagster_internals import REPOSITORY
from companion_assets.daemon.instance import LOCATION
from companion_assets.daemon.running import Services

_ANSWER_SECONDS = 30.0
_LAUNCH = (
    "mutation ($params: ExecutionParams!) { launchRun(executionParams: $params) {"
    " ... on LaunchRunSuccess { run { runId } } } }"
)


def submit_run(services: Services, job: str, *, tags: Mapping[str, str], run_config: Mapping[str, Any]) -> str | None:
    """Launch a run through the queue, as a click would.

    Returns:
        Its id; None when the webserver does not answer or refuses.
    """
    params = {
        "selector": {"repositoryLocationName": LOCATION, "repositoryName": REPOSITORY, "jobName": job},
        "runConfigData": run_config,
        "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in tags.items()]},
    }
    try:
        answer = httpx.post(
            f"{services.dagster_url}/graphql",
            json={"query": _LAUNCH, "variables": {"params": params}},
            timeout=_ANSWER_SECONDS,
            trust_env=False,
        ).json()
        return str(answer["data"]["launchRun"]["run"]["runId"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None
