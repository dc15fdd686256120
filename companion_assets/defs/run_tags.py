"""Words that runs carry in Dagster's log: who asked, how far the run reaches, what kind it is."""

import dagster as dg

REASON_TAG = "companion/reason"  # who asked: watcher, sensor, interval, daily, page, api, companion sync …
SCOPE_TAG = "companion/scope"
ALL_FOLDERS = "all"
LANE_TAG = "companion/lane"
FAST_LANE = "fast"  # executed by the resident worker
REBUILD_TAG = "companion/rebuild"
CONFIRM_TAG = "companion/confirm-removals"
KIND_TAG = "companion/kind"
TRAINING = "train"

IN_FLIGHT = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)
FINISHED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
