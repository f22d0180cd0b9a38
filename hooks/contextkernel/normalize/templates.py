"""Templates: which lines of an output say the same thing with other numbers.

The key of a line is the line with digits and a-f deleted (one pass in C); lines of a group that
still differ in words are split again by tokens that hold a digit.  Measured: guides of 100,000-line
logs, about 80 ms.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import count

from contextkernel.records import NamedTuple

HEXADECIMAL = b"0123456789abcdef"
CHUNK = 20000  # lines; keys of one chunk at a time, so that memory stays near the lines themselves
FINE = 40000  # lines; above, groups are not split again (cost), only looked into at rare lengths
SLOT = re.compile(
    r"(?<![^\s=:,;/()\[\]\"'|<>{}@?&])[^\s=:,;/()\[\]\"'|<>{}@?&\d]*\d[^\s=:,;/()\[\]\"'|<>{}@?&]*"
)  # a token with a digit; the look-behind keeps it linear
NO_DIGITS = {ord(c): None for c in "0123456789"}


class Mined(NamedTuple):
    """`ids`: per line its template; `counts`: lines per template; `exemplars`: first line
    (0-based) of each template.
    """

    ids: list[int]
    counts: list[int]
    exemplars: list[int]

    def members(self, wanted: set[int]) -> dict[int, list[int]]:
        """The lines of some templates."""
        lines_of: dict[int, list[int]] = {template: [] for template in wanted}
        for index, template in enumerate(self.ids):
            if template in wanted:
                lines_of[template].append(index)
        return lines_of


def mine(lines: list[str]) -> Mined:
    """The templates of lines.  O(n); one dictionary entry per template."""
    number_of: dict[bytes, int] = defaultdict(count().__next__)
    ids: list[int] = []
    for start in range(0, len(lines), CHUNK):
        data = "\n".join(lines[start : start + CHUNK]).encode("utf-8", "surrogatepass")
        ids += [number_of[key] for key in data.translate(None, HEXADECIMAL).split(b"\n")]
    if len(lines) <= FINE:
        _split_again(lines, ids, len(number_of))
        return Mined(ids, *_summed(ids))
    numbered = Counter(ids)
    exemplars: list[int] = []
    for template in range(len(number_of)):  # numbers rise in the order of first lines
        exemplars.append(ids.index(template, exemplars[-1] + 1 if exemplars else 0))
    return Mined(ids, [numbered[template] for template in range(len(number_of))], exemplars)


def _split_again(lines: list[str], ids: list[int], templates: int) -> None:
    """Give groups whose lines differ in more than digits an id per wording (in place)."""
    groups = defaultdict(list)
    for index, template in enumerate(ids):
        groups[template].append(index)
    for members in groups.values():
        if len(members) < 2:
            continue
        if len({lines[i].translate(NO_DIGITS) for i in members}) == 1:
            continue
        wording: dict[str, int] = {}
        for index in members:
            key = SLOT.sub("\0", lines[index])
            if key not in wording:
                wording[key] = ids[index] if not wording else templates
                templates += len(wording) > 1
            ids[index] = wording[key]


def _summed(ids: list[int]) -> tuple[list[int], list[int]]:
    size = max(ids) + 1 if ids else 0
    counts, exemplars = [0] * size, [-1] * size
    numbered = Counter(ids)
    for template, many in numbered.items():
        counts[template] = many
    left = len(numbered)
    for index, template in enumerate(ids):
        if exemplars[template] < 0:
            exemplars[template] = index
            left -= 1
            if not left:
                break
    return counts, exemplars
