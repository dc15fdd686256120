"""From a question to passages: what it says, where to look, and how much speaks for what was found. No model call."""
