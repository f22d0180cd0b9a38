"""Outliers: lines of a collapsed template whose slots hold a value unlike the others."""

from __future__ import annotations

import re
from collections import Counter
from itertools import compress

from contextkernel.normalize.templates import FINE, SLOT, Mined

FAR = 8  # median absolute deviations from the median
MOST = 4  # lines shown for one slot
# of the lines hold one of the values that occur often, so that a single value is remarkable
COMMON_SHARE = 0.8
NUMBER = re.compile(r"[^\d.]*?(-?\d+(?:\.\d+)?)[A-Za-z%µ]*$")


def outliers(lines: list[str], mined: Mined, templates: set[int]) -> list[int]:
    """Indexes of outlying lines, ascending."""
    indexes: set[int] = set()
    if len(lines) <= FINE:
        for members in mined.members(templates).values():
            indexes |= _in_group(lines, members)
    else:
        indexes = _by_length(lines, mined, templates)
    return sorted(indexes)


def _in_group(lines: list[str], members: list[int]) -> set[int]:
    rows = [SLOT.findall(lines[i]) for i in members]
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        return set()
    indexes: set[int] = set()
    for column in range(min(width, 24)):
        values = [row[column] for row in rows]
        indexes |= {members[i] for i in far_or_rare(values)}
    return indexes


def far_or_rare(values: list[str]) -> set[int]:
    """Positions in a column of texts that hold a far number, or a value that is rare among few."""
    counts = Counter(values)
    if len(counts) == 1:
        return set()
    often = {value for value, count in counts.items() if count >= max(5, len(values) // 40)}
    if sum(counts[value] for value in often) >= COMMON_SHARE * len(values):
        rare = [i for i, value in enumerate(values) if counts[value] <= 2 and value not in often]
        if len(rare) <= max(MOST, len(values) // 50):
            return set(rare[: 2 * MOST])
    return _far(values)


def _far(values: list[str]) -> set[int]:
    numbers: list[tuple[float, int]] = []
    for index, value in enumerate(values):
        match = NUMBER.match(value)
        if match:
            numbers.append((float(match.group(1)), index))
    if len(numbers) < 0.9 * len(values) or len(numbers) < 8:
        return set()
    ordered = sorted(numbers)
    median = ordered[len(ordered) // 2][0]
    spread = sorted(abs(number - median) for number, _ in ordered)[len(ordered) // 2]
    limit = FAR * spread if spread else max(abs(median), 1.0) * 2
    far = sorted(
        (number for number in ordered if abs(number[0] - median) > limit),
        key=lambda pair: -abs(pair[0] - median),
    )
    is_few = len(far) <= max(MOST, len(values) // 10)
    return {index for _, index in far[: MOST if is_few else 1]}


def _by_length(lines: list[str], mined: Mined, templates: set[int]) -> set[int]:
    """For very long outputs: lines whose length is rare within their template, the longest and
    shortest first.
    """
    lengths = Counter(zip(mined.ids, map(len, lines)))
    rare = {key for key, count in lengths.items() if count <= 2 and key[0] in templates}
    if not rare:
        return set()
    by_template: dict[int, list[tuple[int, int]]] = {}
    keys = zip(mined.ids, map(len, lines))
    for index in compress(range(len(lines)), map(rare.__contains__, keys)):
        by_template.setdefault(mined.ids[index], []).append((len(lines[index]), index))
    indexes: set[int] = set()
    for pairs in by_template.values():
        pairs.sort()
        indexes |= {index for _, index in pairs[:1] + pairs[-2:]}
    return set(sorted(indexes)[:60])
