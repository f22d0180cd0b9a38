"""Fixtures: an isolated session, hooks run as the client runs them, real clients where they are
installed.

run_hook(script, event, env=…, python=…)  -> (reply or None, stderr); asserts exit 0 and one JSON
object or silence
plugin_root       a copy of the plugin in a folder named  copy of 'x' $y "z"
state             a fresh $CK_DATA, used by every run_hook of the same test
claude            a runner of scenarios, once for each client in $CK_CLAUDE_BINS
"""

from __future__ import annotations

import os
import re
import signal
import sys
import types

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "harness"), os.path.join(os.path.dirname(HERE), "hooks")]
sys.dont_write_bytecode = True

import isolation  # noqa: E402
import long_proofs  # noqa: E402
import plugin  # noqa: E402
import rounds  # noqa: E402

LIMIT_S = 1200 if rounds.LONG else 150
LOOP_CASES = 2
REAL_HOME = os.path.expanduser("~")
BEFORE = isolation.listing(REAL_HOME)
FOLDERS = isolation.open_folders(plugin.BASE_PYTHON)
isolation.enter(FOLDERS)


def pytest_configure(config):
    config.stash_leaks = []
    if rounds.LONG and not hasattr(config, "workerinput"):
        config.pluginmanager.register(long_proofs.Recorder(config))


@pytest.hookimpl(tryfirst=True)  # before -m "not slow" looks
def pytest_collection_modifyitems(items):
    """`loop(count)`: so many of a test's cases, spread evenly over them, stay in the loop; the
    rest are slow.  In tests/contract, where most cases start a process, LOOP_CASES do.
    """
    families = {}
    for item in items:
        mark = item.get_closest_marker("loop")
        count = mark.args[0] if mark else LOOP_CASES if "contract" in item.path.parts else 0
        if count:
            family = (item.path, getattr(item, "originalname", item.name), count)
            families.setdefault(family, []).append(item)
    for (_, _, count), cases in families.items():
        kept = {n * len(cases) // count for n in range(count)}
        for number, item in enumerate(cases):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """One test with its fixtures gets LIMIT_S; then it fails where it hangs, and the session
    goes on.
    """

    def give_up(signum, frame):
        pytest.fail(f"still running after {LIMIT_S:d} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pytest_sessionfinish(session, exitstatus):
    session.config.stash_leaks = isolation.changes(BEFORE, isolation.listing(REAL_HOME))
    isolation.leave(FOLDERS)
    if session.config.stash_leaks and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    for line in filter(None, os.environ.get("CK_TEST_NOTES", "").split("\n")):
        terminalreporter.line("tests/run: " + line, red=True)
    if config.stash_leaks:
        terminalreporter.section(
            (
                "written outside of the session's folders (by a test, or by a client at work "
                "meanwhile)"
            ),
            red=True,
        )
        for path in config.stash_leaks[:20]:
            terminalreporter.line(path)


@pytest.fixture(scope="session")
def plugin_root(tmp_path_factory):
    root = plugin.copy_to(str(tmp_path_factory.mktemp("plugin")))
    before = plugin.files_of(root)
    yield root
    assert plugin.files_of(root) == before, "the plugin's own folder was written"


@pytest.fixture
def state(tmp_path, monkeypatch):
    folder = tmp_path / "ck-state"
    monkeypatch.setenv("CK_DATA", str(folder))
    return folder


@pytest.fixture
def run_hook(plugin_root, state):
    def run(script, event, env=None, python="python3", root=None, read_only=False):
        if not script.endswith(".py"):
            script += ".py"
        return plugin.hooked(
            plugin.run_script(root or plugin_root, script, event, env, python, read_only)
        )

    return run


@pytest.fixture
def own_ledger(tmp_path, monkeypatch):
    """This process books into a state folder of the test's own, with nothing open at the start
    or the end.
    """
    from contextkernel.handlers import verification
    from contextkernel.store import recorder, spool

    monkeypatch.setenv("CK_DATA", str(tmp_path / "state"))
    monkeypatch.setattr(recorder, "ledger", None)
    monkeypatch.setattr(spool, "_path", "")
    monkeypatch.setattr(
        verification,
        "_state",
        {"ledger_tried": 0.0, "swept": 0.0, "gone_since": 0.0, "sessions": set(), "offsets": {}},
    )
    yield
    if recorder.ledger is not None:
        recorder.ledger.close()


@pytest.fixture
def own_plugin_root(tmp_path):
    """A copy of the plugin that this one test may change."""
    return plugin.copy_to(str(tmp_path))


def client_paths():
    """The Claude Code binaries to drive: $CK_CLAUDE_BINS (":"-separated), else $CLAUDE_BIN."""
    named = os.environ.get("CK_CLAUDE_BINS") or os.environ.get("CLAUDE_BIN") or ""
    return [path for path in named.split(os.pathsep) if os.access(path, os.X_OK)]


def client_name(path):
    """The version in a client's path (…/cc-2.1.332/…), else its file name."""
    found = re.search(r"\d+\.\d+\.\d+", path)
    return found.group(0) if found else os.path.basename(path)


def pytest_generate_tests(metafunc):
    if "claude" in metafunc.fixturenames:
        metafunc.parametrize(
            "claude",
            client_paths() or [None],
            indirect=True,
            scope="module",
            ids=[client_name(path) for path in client_paths()] or ["absent"],
        )


@pytest.fixture(scope="module")
def claude(request, tmp_path_factory):
    """`.path`, `.version` and `.run(scenario, root=None)` of one real client."""
    if request.param is None:
        pytest.skip("no Claude Code client: set CK_CLAUDE_BINS or CLAUDE_BIN")
    import run_claude

    def run(scenario, root=None):
        return run_claude.run(
            scenario, client=request.param, root=root or str(tmp_path_factory.mktemp("claude"))
        )

    return types.SimpleNamespace(path=request.param, version=client_name(request.param), run=run)
