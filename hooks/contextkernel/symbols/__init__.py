"""One definition and everything in its file that it needs."""
