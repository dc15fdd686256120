"""Floor 3, the processes: supervisor, launching and the only private Dagster imports."""
