"""Floor 3, the timetable: Dagster assets, checks, jobs, schedules and sensors. Thin."""
