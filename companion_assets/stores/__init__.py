"""Floor 1, the shelves: one module per stored thing, and it alone knows the format."""
