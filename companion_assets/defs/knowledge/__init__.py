"""The knowledge group: notes → chunks → embeddings → vault_index, one partition per top-level folder."""
