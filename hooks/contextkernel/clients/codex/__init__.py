"""Codex: its session files."""
