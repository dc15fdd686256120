"""The pipeline from a folder of notes to a searchable index. Importing this loads nothing."""
