"""context-kernel: what enters a coding agent's context window, and the way back to what was left out."""

VERSION = "0.1.0"
