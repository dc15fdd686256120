"""Keeping the run log true: what a crash left behind is put right."""
