"""One file at a time: definitions, imports, words."""
