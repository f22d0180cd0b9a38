"""What a symptom text says: frames, paths, names, words, a diff."""
