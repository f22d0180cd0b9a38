"""Re-reads: a file that the context holds already comes back as a mark, or as what changed."""
