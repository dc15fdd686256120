"""One way to start a sync, whoever asks: through the running services if there are any, else in this process.

Either way it is a run of the same job, in the same run log.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg

from companion_assets.contracts.errors import CompanionError, StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.dagster_internals import create_run, execute_here, faults_of, was_interrupted
from companion_assets.daemon.dagster_page import submit_run
from companion_assets.daemon.instance import LOCATION, open_instance
from companion_assets.daemon.running import running_services
from companion_assets.defs.knowledge.jobs import SYNC_JOB
from companion_assets.defs.knowledge.partitions import covering_tags, key_of, plan_folders, register
from companion_assets.defs.maintenance.dead_runs import fail_dead_runs
from companion_assets.defs.resources import open_workspace
from companion_assets.defs.run_tags import CONFIRM_TAG, FAST_LANE, LANE_TAG, REASON_TAG, REBUILD_TAG

_POLL_SECONDS = 0.1
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
    paths: DataPaths,
    definitions: dg.Definitions,
    *,
    rebuild: bool = False,
    confirm_removals: bool = False,
    reason: str = "manual",
) -> SyncResult:
    """Bring the index up to date and wait for it.

    Args:
        paths: The data root.
        definitions: Where the job is found when it runs in this process.
        rebuild: Read and cut every note again (vectors of equal text are kept).
        confirm_removals: Notes that the guard against mass loss keeps are really gone.
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
        tags = _tags(keys, keys, reason, rebuild=rebuild, confirm_removals=confirm_removals)
        run_id = _launch(paths, tags) or _execute(instance, definitions, tags)
        run = _wait(instance, paths, run_id)
        success = run.is_success
        failure = "" if success else _failure(instance, run_id)
        return SyncResult(run_id, success, time.perf_counter() - started, _counts(instance, run_id), failure)


def launch_sync(paths: DataPaths, *, confirm_removals: bool = False, reason: str = "page") -> str:
    """Start a sync of every folder and return its run id at once; "" if there is no folder. Needs the services.

    Raises:
        VaultError: The vault cannot be read.
        CompanionError: The services do not run.
    """
    with open_instance(paths) as instance:
        fail_dead_runs(instance)
        keys = add_folders(instance)
    if not keys:
        return ""
    return _launched(paths, _tags(keys, keys, reason, confirm_removals=confirm_removals))


def launch_folders(paths: DataPaths, folders: Collection[str], *, reason: str) -> str:
    """Start a sync of some folders and return its run id at once. Needs the running services.

    It is one run over the range from the first to the last of them; an unchanged folder between them costs little.

    Args:
        paths: The data root.
        folders: Top-level folders, at least one; what is not known yet is registered.
        reason: For the run log: who asked.

    Raises:
        StoreError: The data root cannot be written.
        CompanionError: The services do not run.
    """
    with open_instance(paths) as instance:
        some = sorted(map(key_of, folders))
        keys = register(instance, some)
    return _launched(paths, _tags(keys, some, reason))


def add_folders(instance: dg.DagsterInstance) -> list[str]:
    """Register the vault's folders as partitions; returns all keys in the instance's order."""
    with open_workspace() as work:
        return register(instance, plan_folders(work, instance).add)


def _tags(
    keys: Sequence[str],
    some: Collection[str],
    reason: str,
    *,
    rebuild: bool = False,
    confirm_removals: bool = False,
) -> dict[str, str]:
    """Tags of the run that covers some of all `keys`."""
    tags = {**covering_tags(keys, some), REASON_TAG: reason}
    if confirm_removals:
        tags[CONFIRM_TAG] = "true"
    if rebuild:
        tags[REBUILD_TAG] = "true"
    else:
        tags[LANE_TAG] = FAST_LANE  # a rebuild takes minutes and memory that the worker has better use for
    return tags


def _launched(paths: DataPaths, tags: Mapping[str, str]) -> str:
    run_id = _launch(paths, tags)
    if run_id is None:
        raise CompanionError("the background services are not running", "start them with: companion up")
    return run_id


def _launch(paths: DataPaths, tags: Mapping[str, str]) -> str | None:
    """Ask the running services for the run; None when there are none or they do not answer."""
    services = running_services(paths)
    return submit_run(services, SYNC_JOB, tags=tags, run_config=_saying("ERROR")) if services else None


def _execute(instance: dg.DagsterInstance, definitions: dg.Definitions, tags: Mapping[str, str]) -> str:
    """The run, executed in this process."""
    job = definitions.resolve_job_def(SYNC_JOB)
    tags = {name: value for name, value in tags.items() if name != LANE_TAG}
    run = create_run(instance, job, LOCATION, tags=tags, run_config=_saying("CRITICAL"))
    execute_here(instance, job, run)
    if was_interrupted(instance, run.run_id):
        raise KeyboardInterrupt
    return run.run_id


def _saying(level: str) -> dict[str, object]:
    """What a run writes to the standard error of its process; the run log has it all."""
    return {"loggers": {"console": {"config": {"log_level": level}}}}


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
    for chain in faults_of(instance, run_id):
        messages = [str(error.message).strip() for error in chain]
        ours = (message for message in messages if message.startswith(CompanionError.__module__))
        chosen = next(ours, messages[-1])
        return chosen.partition(": ")[2] or chosen
    return "the run failed; see its log"
