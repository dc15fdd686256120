"""Floor 1, the engines: embedders and generators behind Protocols."""
