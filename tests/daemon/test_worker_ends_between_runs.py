"""The worker in this process, without the services: what it takes, what it survives, and when it ends."""

import os
import signal
import threading
from collections.abc import Iterator

import dagster as dg
import pytest

from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.worker import Worker
from companion_assets.defs.maintenance.dead_runs import process_of


@dg.asset
def quick() -> dg.MaterializeResult:
    """Does nothing."""
    return dg.MaterializeResult()


@dg.asset
def broken() -> dg.MaterializeResult:
    """Ends its process's thread of work in the rudest way that is no signal."""
    raise SystemExit(3)


@dg.asset
def told_to_end() -> dg.MaterializeResult:
    """Is in the middle of its work when the services are stopped."""
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(30)
    return dg.MaterializeResult()


DEFINITIONS = dg.Definitions(
    assets=[quick, broken, told_to_end],
    jobs=[
        dg.define_asset_job(f"{asset.key.path[-1]}_job", selection=[asset]) for asset in (quick, broken, told_to_end)
    ],
    executor=dg.in_process_executor,
)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with open_instance(data_paths()) as opened:
        yield opened


def new_run(instance: dg.DagsterInstance, asset: str = "quick") -> str:
    job = DEFINITIONS.resolve_job_def(f"{asset}_job")
    return instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTING).run_id


def status(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def serve(worker: Worker, run_ids: list[str], instance: dg.DagsterInstance) -> None:
    """Serve in this thread, which signals reach, and hand over one run after the other from another."""

    def hand_over() -> None:
        for run_id in run_ids:
            while not worker.accept(run_id):
                threading.Event().wait(0.01)
            worker.confirm(run_id, wanted=True)

    launcher = threading.Thread(target=hand_over, daemon=True)
    launcher.start()
    worker.serve()


def test_after_so_many_runs_it_ends_and_takes_no_more(instance: dg.DagsterInstance) -> None:
    runs = [new_run(instance), new_run(instance)]
    worker = Worker(instance, DEFINITIONS, runs=2)
    serve(worker, runs, instance)
    assert [status(instance, run) for run in runs] == [dg.DagsterRunStatus.SUCCESS] * 2
    assert worker.current()
    assert not worker.accept(new_run(instance))


def test_it_ends_when_it_has_grown(instance: dg.DagsterInstance) -> None:
    runs = [new_run(instance)]
    serve(Worker(instance, DEFINITIONS, growth=0.5), runs, instance)
    assert status(instance, runs[0]) is dg.DagsterRunStatus.SUCCESS


def test_a_run_is_marked_before_it_is_executed(instance: dg.DagsterInstance) -> None:
    run_id = new_run(instance)
    worker = Worker(instance, DEFINITIONS)
    assert worker.accept(run_id)
    run = instance.get_run_by_id(run_id)
    assert run is not None
    process = process_of(run)
    assert process is not None
    assert process.pid == os.getpid()
    assert worker.current() == run_id
    worker.confirm(run_id, wanted=False)
    assert worker.current() == ""


def test_a_run_of_another_instance_is_not_taken(instance: dg.DagsterInstance) -> None:
    worker = Worker(instance, DEFINITIONS)
    assert not worker.accept("8a7ee9f4-0000-4000-8000-000000000000")
    assert worker.current() == ""


def test_no_run_takes_it_down(instance: dg.DagsterInstance) -> None:
    older = dg.Definitions(assets=[quick], jobs=[dg.define_asset_job("of_an_older_version")])
    job = older.resolve_job_def("of_an_older_version")
    unknown = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTING).run_id
    runs = [new_run(instance, "broken"), unknown, new_run(instance)]
    serve(Worker(instance, DEFINITIONS, runs=3), runs, instance)
    assert [status(instance, run) for run in runs] == [
        dg.DagsterRunStatus.FAILURE,
        dg.DagsterRunStatus.FAILURE,
        dg.DagsterRunStatus.SUCCESS,
    ]


def test_a_run_that_was_cancelled_before_it_began_is_not_executed(instance: dg.DagsterInstance) -> None:
    run_id = new_run(instance)
    run = instance.get_run_by_id(run_id)
    assert run is not None
    instance.report_run_canceling(run)
    serve(Worker(instance, DEFINITIONS, runs=1), [run_id], instance)
    assert status(instance, run_id) is dg.DagsterRunStatus.CANCELED
    assert not instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_START)


def test_told_to_end_in_the_middle_of_a_run_it_ends_it_and_goes(instance: dg.DagsterInstance) -> None:
    before = signal.getsignal(signal.SIGTERM)
    run_id = new_run(instance, "told_to_end")
    serve(Worker(instance, DEFINITIONS), [run_id], instance)
    assert status(instance, run_id) is dg.DagsterRunStatus.FAILURE
    assert signal.getsignal(signal.SIGTERM) is before


def test_told_to_end_between_runs_it_goes_at_once(instance: dg.DagsterInstance) -> None:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with pytest.raises(SystemExit):
        Worker(instance, DEFINITIONS).serve()


def test_an_interrupt_that_comes_too_late_does_nothing(instance: dg.DagsterInstance) -> None:
    runs = [new_run(instance)]
    late = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    worker = Worker(instance, DEFINITIONS, runs=1)
    threading.Timer(0.6, lambda: worker.accept(runs[0]) and worker.confirm(runs[0], wanted=True)).start()
    late.start()
    worker.serve()
    assert status(instance, runs[0]) is dg.DagsterRunStatus.SUCCESS
    assert not worker.interrupt(runs[0])
