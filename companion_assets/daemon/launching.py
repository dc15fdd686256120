"""One way to start a sync, whoever asks: through the running daemon if there is one, else in this process.

Either way it is a run of the same job, in the same run log. Uses three private names of Dagster 1.13 (the minor
version is pinned, `tests/daemon` holds the contract): how the UI finds the job of a run again, and how an existing run
is executed in this process.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster_graphql import DagsterGraphQLClient, DagsterGraphQLClientError

from companion_assets.contracts.errors import CompanionError, StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import LOCATION, open_instance
from companion_assets.daemon.running import running_services
from companion_assets.defs.knowledge.jobs import SYNC_JOB
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS, range_tags
from companion_assets.defs.maintenance.dead_runs import fail_dead_runs
from companion_assets.defs.resources import open_workspace
from companion_assets.stages.drift import measure_drift
from companion_assets.stages.sync import REBUILD_TAG

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_POLL_SECONDS = 0.3
_SECONDS_BETWEEN_LOOKS = 5.0
_OF_THE_WHOLE = ("vault_", "index_")  # metadata that every partition of a run repeats


@dataclass(frozen=True, slots=True)
class SyncResult:
    """How a sync ended.

    Attributes:
        run_id: The Dagster run; empty if there was nothing to run on.
        counts: Sums over all folders by step, e.g. `{"notes": {"read": 3, …}, …}`.
        failure: Why the run failed, in one line.
    """

    run_id: str
    success: bool
    seconds: float
    counts: Mapping[str, Mapping[str, int]]
    failure: str = ""


def run_sync(
    paths: DataPaths, definitions: dg.Definitions, *, rebuild: bool = False, reason: str = "manual"
) -> SyncResult:
    """Bring the index up to date and wait for it.

    Args:
        paths: The data root.
        definitions: Where the job is found when it runs in this process.
        rebuild: Read and cut every note again (vectors of equal text are kept).
        reason: For the run log: who asked.

    Raises:
        VaultError: The vault cannot be read.
        StoreError: The data root cannot be written.
        CompanionError: The background services took the sync over and ended before it began.
        KeyboardInterrupt: Ctrl-C ended a run in this process; what it had done is kept.
    """
    started = time.perf_counter()
    with open_instance(paths) as instance:
        fail_dead_runs(instance)
        keys = add_folders(instance)
        if not keys:
            return SyncResult("", True, time.perf_counter() - started, {})
        tags = {**range_tags(keys), "companion/reason": reason, **({REBUILD_TAG: "true"} if rebuild else {})}
        run_id = _launch(paths, tags) or _execute(instance, definitions, tags)
        run = _wait(instance, paths, run_id)
        success = run.is_success
        failure = "" if success else _failure(instance, run_id)
        return SyncResult(run_id, success, time.perf_counter() - started, _counts(instance, run_id), failure)


def add_folders(instance: dg.DagsterInstance) -> list[str]:
    """Register the vault's folders as partitions; returns all keys in the instance's order."""
    with open_workspace() as work:
        drift = measure_drift(work)
    known = instance.get_dynamic_partitions(VAULT_FOLDERS)
    new = [folder for folder in drift.folders if folder not in known]
    if new:
        instance.add_dynamic_partitions(VAULT_FOLDERS, new)
    return list(instance.get_dynamic_partitions(VAULT_FOLDERS))


def launch_sync(paths: DataPaths, *, reason: str = "page") -> str:
    """Start a sync and return its run id at once; needs the running services.

    Raises:
        CompanionError: No daemon runs.
    """
    with open_instance(paths) as instance:
        fail_dead_runs(instance)
        keys = add_folders(instance)
    run_id = _launch(paths, {**range_tags(keys), "companion/reason": reason}) if keys else ""
    if run_id is None:
        raise CompanionError("the background services are not running", "start them with: companion up")
    return run_id


def _launch(paths: DataPaths, tags: Mapping[str, str]) -> str | None:
    """Ask the running webserver for the run; None when there is none or it does not answer."""
    services = running_services(paths)
    if services is None:
        return None
    try:
        client = DagsterGraphQLClient("127.0.0.1", port_number=services.dagster_port)
        return str(
            client.submit_job_execution(
                SYNC_JOB, repository_location_name=LOCATION, repository_name="__repository__", tags=dict(tags)
            )
        )
    except (DagsterGraphQLClientError, OSError):
        return None


def _execute(instance: dg.DagsterInstance, definitions: dg.Definitions, tags: Mapping[str, str]) -> str:
    """The run, executed in this process."""
    job = definitions.resolve_job_def(SYNC_JOB)
    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), "__repository__")
    run = instance.create_run_for_job(
        job, tags=dict(tags), run_config=_QUIET, remote_job_origin=RemoteJobOrigin(repository, SYNC_JOB)
    )
    execute_run(InMemoryJob(job), run, instance)
    if any(chain[-1].cls_name == "DagsterExecutionInterruptedError" for chain in _faults(instance, run.run_id)):
        raise KeyboardInterrupt  # Dagster took it for a failed step
    return run.run_id


def _wait(instance: dg.DagsterInstance, paths: DataPaths, run_id: str) -> dg.DagsterRun:
    """The run, once it has ended, in whatever process it is executed."""
    looked = time.monotonic()
    while True:
        run = instance.get_run_by_id(run_id)
        if run is None:
            raise StoreError(f"run {run_id} is gone from the run log", "try again")
        if run.is_finished:
            return run
        if time.monotonic() - looked > _SECONDS_BETWEEN_LOOKS:
            looked = time.monotonic()
            fail_dead_runs(instance)
            if run.status is dg.DagsterRunStatus.QUEUED and running_services(paths) is None:
                raise CompanionError(
                    "the background services ended before the sync began", "it begins when they run again: companion up"
                )
        time.sleep(_POLL_SECONDS)


def _counts(instance: dg.DagsterInstance, run_id: str) -> dict[str, dict[str, int]]:
    """Sums of the whole-number metadata of each asset over its partitions."""
    sums: dict[str, dict[str, int]] = {}
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
        event = entry.get_dagster_event()
        materialization = event.step_materialization_data.materialization
        of_asset = sums.setdefault(materialization.asset_key.path[-1], {})
        for name, value in materialization.metadata.items():
            if (
                isinstance(value, dg.IntMetadataValue)
                and value.value is not None
                and not name.startswith(_OF_THE_WHOLE)
            ):
                of_asset[name] = of_asset.get(name, 0) + value.value
    return sums


def _failure(instance: dg.DagsterInstance, run_id: str) -> str:
    """What stopped the first failed step, or the run: our own words where there are any, else the innermost cause."""
    for chain in _faults(instance, run_id):
        messages = [str(error.message).strip() for error in chain]
        ours = (message for message in messages if message.startswith(CompanionError.__module__))
        chosen = next(ours, messages[-1])
        return chosen.partition(": ")[2] or chosen
    return "the run failed; see its log"


def _faults(instance: dg.DagsterInstance, run_id: str) -> Iterator[list[Any]]:
    """Dagster's errors of the failed steps, then of the run: each with its causes, the innermost last."""
    for kind in (dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE):
        for entry in instance.all_logs(run_id, of_type=kind):
            error: Any = getattr(entry.get_dagster_event().event_specific_data, "error", None)
            chain = []
            while error is not None:
                chain.append(error)
                error = error.cause
            if chain:
                yield chain
