"""The suite's own promise: a session that writes into the person's folders fails, and one that
does not passes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.mark.parametrize(
    "place, status",
    [
        (".claude/settings.json", 1),
        (".codex/config.toml", 1),
        (".local/state/context-kernel/state.db", 1),
        (".context-kernel-tap", 1),
        ("notes.txt", 0),
    ],
)
@pytest.mark.slow
def test_a_write_into_the_real_home_fails_the_session(tmp_path, place, status):
    home = tmp_path / "home"
    (home / place).parent.mkdir(parents=True)
    shutil.copytree(
        os.path.join(TESTS, "harness"),
        str(tmp_path / "tests" / "harness"),
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(os.path.join(TESTS, "conftest.py"), str(tmp_path / "tests"))
    (tmp_path / "tests" / "test_one.py").write_text(
        f"import os\ndef test_one():\n    open({str(home / place)!r}, 'w').close()\n"
        f"    assert os.path.expanduser('~') != {str(home)!r} and os.environ['CK_DATA']\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "tests")],
        env=dict(os.environ, HOME=str(home)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    assert done.returncode == status, done.stdout.decode()
    assert (place.encode() in done.stdout) is bool(status)
