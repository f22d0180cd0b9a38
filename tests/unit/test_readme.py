"""The README says what the program does: its example is made by it, its settings are the
program's, its commands exist.
"""

from __future__ import annotations

import os
import re

import plugin
from contextkernel.normalize import Source, normalize
from contextkernel.store import settings
from contextkernel.tokens import estimate

with open(os.path.join(plugin.ROOT, "README.md"), encoding="utf-8") as handle:
    README = handle.read()


def worker_log():
    """The output of the example: 4,000 lines of which one is an error."""
    lines = []
    for n in range(1, 4001):
        said = f"INFO  worker-{n % 4} job {n} done in {n * 7919 % 90 + 10} ms"
        if n == 2718:
            said = "ERROR worker-2 job 2718 lost its lease: checksum mismatch on shard 17"
        lines.append(f"2026-11-30T{10 + n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z {said}\n")
    return "".join(lines)


def test_the_example_is_what_the_program_makes():
    raw = worker_log()
    shown = normalize(raw, Source(command="cat worker.log")).text
    block = re.search(r"```\n\$ cat worker\.log\n(.*?)```", README, re.S).group(1)
    wanted, at = shown.split("\n"), 0
    for line in block.strip().split("\n"):
        if not line.startswith("…"):
            assert line in wanted[at:], line
            at = wanted.index(line, at) + 1
    said = re.search(
        r"([\d,]+) lines, ([\d,]+) tokens.*?(\d+) lines, (\d+) tokens", README, re.S
    ).groups()
    assert [int(number.replace(",", "")) for number in said] == [
        raw.count("\n"),
        estimate(raw),
        shown.count("\n"),
        estimate(shown),
    ]


def test_the_settings_are_the_program_s():
    rows = re.findall(r"^\| ((?:`CK_\w+`(?:, )?)+) \| ([^|]+) \|", README, re.M)
    named = {
        name: value.strip("` ")
        for names, values in rows
        for name, value in zip(
            re.findall(r"`(CK_\w+)`", names),
            values.split(", ") if names.count("`") > 2 else [values],
        )
    }
    assert {name: str(value) for name, value in settings.DEFAULTS.items()} == {
        name: value for name, value in named.items() if name != "CK_DATA"
    }


def test_the_options_are_the_installer_s():
    from contextkernel.setup import install

    named = set(re.findall(r"`--([a-z-]+)`", README.split("### install.sh")[1].split("\n##")[0]))
    assert named == set(install.FLAGS)


def test_files_named_are_there():
    names = re.findall(r"\]\((?!https?:|#)([^)]+)\)", README) + re.findall(
        r"(?:python3|bash) ((?:hooks|bench|tests)/[\w.]+|install\.sh)", README
    )
    assert len(names) > 6
    assert not [name for name in names if not os.path.exists(os.path.join(plugin.ROOT, name))]
