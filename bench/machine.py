"""What a measurement was made on: one row for every results file."""

from __future__ import annotations

import glob
import json
import os
import platform
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "bench", "results")


def _first_line(argv: list) -> str:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").split("\n")[0].strip()


def processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as handle:
            found = re.search(r"model name\s*:\s*(.+)", handle.read())
    except OSError:
        found = None
    return (
        found.group(1).strip()
        if found
        else _first_line(["sysctl", "-n", "machdep.cpu.brand_string"]) or platform.machine()
    )


def commit() -> str:
    """The short commit id, with "+" where product files differ from it; "" outside of a
    repository.
    """
    head = _first_line(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"])
    changed = _first_line(["git", "-C", ROOT, "status", "--porcelain", "--", "hooks", "mcp"])
    return head + "+" if head and changed else head


def facts(client: str = "") -> dict:
    """Commit, Python, client version, system, processor, number of CPUs, load average of the
    last minute (at the start).
    """
    row = {
        "commit": commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": processor(),
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }
    if client:
        row["client"] = _first_line([client, "--version"])
    return row


def interpreters() -> list:
    """[(version, path)] of the Pythons 3.9 to 3.14 here, oldest first; shims are left out."""
    names = ["python3"] + [f"python3.{minor}" for minor in range(9, 15)]
    paths = [
        os.path.join(folder, name)
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        for name in names
    ]
    paths += glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3")) + [sys.executable]
    found = {}
    for path in paths:
        if os.access(path, os.X_OK):
            line = _first_line(
                [
                    path,
                    "-I",
                    "-c",
                    (
                        "import os, sys; print('%d.%d.%d' % sys.version_info[:3], "
                        "os.path.realpath(sys.executable))"
                    ),
                ]
            )
            version, _, real = line.partition(" ")
            if real and (3, 9) <= tuple(map(int, version.split(".")[:2])) <= (3, 14):
                found[tuple(map(int, version.split(".")))] = (version, real)
    return [found[key] for key in sorted(found)]


def write(name: str, result: dict) -> str:
    """The path of bench/results/NAME.json, written."""
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, name + ".json")
    with open(path + ".tmp", "w", encoding="utf-8") as handle:
        handle.write(json.dumps(result, indent=1, sort_keys=True) + "\n")
    os.replace(path + ".tmp", path)
    return path


def quantile(values: list, share: float) -> float:
    """The value below which `share` of the values lie (nearest rank)."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, -int(-share * len(ranked) // 1) - 1))]


def markdown(columns: list, rows: list) -> str:
    """A Markdown table."""
    lines = [
        f"| {' | '.join(map(str, row))} |" for row in [columns, ["---"] * len(columns)] + list(rows)
    ]
    return "\n".join(lines)
