"""SessionStart with a source that no file name can hold: it answers as always."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("source", ["startup\0", "\ud800", "x" * 300, "../../x", "a/b", ""])
def test_any_source_is_served(run_hook, source):
    event = {
        "session_id": "s",
        "hook_event_name": "SessionStart",
        "source": source,
        "model": "claude",
        "transcript_path": "",
        "cwd": "/",
    }
    _, stderr = run_hook("session_start", event)
    assert stderr == ""
