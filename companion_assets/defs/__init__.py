"""Floor 3, the timetable: Dagster assets, checks, jobs, schedules and sensors. Thin."""

import warnings

import dagster as dg

# Backfill and freshness policies are marked beta and preview in 1.13, the minor version we pin.
for _category in (dg.BetaWarning, dg.PreviewWarning):
    warnings.filterwarnings("ignore", category=_category)
