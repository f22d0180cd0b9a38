"""Raise the version in every place that states it, and begin its section of the changelog.

    python3 .ci/raise_version.py 0.2.0 "What a user notices, in one line"

Exit 0 when every place was written, 2 with one line when the call or a place is wrong (then nothing
is written).
"""

from __future__ import annotations

import datetime
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
NUMBER = re.compile(r"\d+\.\d+\.\d+")
PLACES = {  # file -> the one line that states the version, with the number between two groups
    ".claude-plugin/plugin.json": re.compile(r'^(  "version": ")[^"]+(",)$', re.M),
    "codex/plugin.json": re.compile(r'^(  "version": ")[^"]+(",)$', re.M),
    "hooks/contextkernel/__init__.py": re.compile(r'^(VERSION = ")[^"]+(")$', re.M),
}
CHANGELOG = "CHANGELOG.md"
FIRST_SECTION = re.compile(r"^## ", re.M)


class UsageError(Exception):
    """A call or a place that this program cannot work with; the message says what is wrong."""


def versions() -> dict[str, str]:
    """The version that each place states now. Raises UsageError where a place states none or
    several.
    """
    stated = {}
    for name, line in PLACES.items():
        found = line.findall(read(name))
        if len(found) != 1:
            raise UsageError(f"{name}: {len(found)} lines state a version, not one")
        stated[name] = NUMBER.search(line.search(read(name)).group()).group()
    return stated


def read(name: str) -> str:
    with open(os.path.join(ROOT, name), encoding="utf-8", newline="") as file:
        return file.read()


def write(name: str, text: str) -> None:
    with open(os.path.join(ROOT, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def raise_to(version: str, line: str) -> None:
    """Write the version everywhere. Raises UsageError before anything is written."""
    if not NUMBER.fullmatch(version):
        raise UsageError(f"{version}: not a version such as 0.2.0")
    newest = max(versions().values(), key=parts)
    if parts(version) <= parts(newest):
        raise UsageError(f"{version}: not above {newest}")
    changelog = read(CHANGELOG)
    first = FIRST_SECTION.search(changelog)
    place = first.start() if first else len(changelog)
    section = f"## {version} ({datetime.date.today().isoformat()})\n\n- {line}\n\n"
    for name, pattern in PLACES.items():
        write(name, pattern.sub(rf"\g<1>{version}\g<2>", read(name)))
    write(CHANGELOG, changelog[:place] + section + changelog[place:])


def main(arguments: list[str]) -> int:
    try:
        if len(arguments) != 2:
            raise UsageError('usage: python3 .ci/raise_version.py 0.2.0 "What a user notices"')
        raise_to(*arguments)
    except UsageError as error:
        print(f"raise_version: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
