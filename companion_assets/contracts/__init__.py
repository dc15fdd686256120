"""Floor 0, the words: errors, settings, paths, records, manifests and the prompt. No disk writes."""
