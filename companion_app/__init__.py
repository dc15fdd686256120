"""What a person touches: terminal, page and HTTP API. Importing this loads nothing."""
