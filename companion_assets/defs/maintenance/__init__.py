"""Keeping house: what a crash left behind is put right, what piles up is tidied."""
