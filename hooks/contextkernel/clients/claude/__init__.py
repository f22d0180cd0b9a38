"""Claude Code: transcripts, settings, permission rules, the shell it starts."""
