"""Floor 2, the workshop: pure steps of the pipeline, each module a verb. No Dagster, no app."""
