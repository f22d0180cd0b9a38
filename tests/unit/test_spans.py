"""Ranges of lines: merged, counted, written and read."""

import random

from contextkernel import lines as line_ranges


def test_ranges_say_the_same_lines_as_a_set_of_numbers():
    draw = random.Random(7)
    for _ in range(200):
        ranges = [(first, first + draw.randrange(6)) for first in draw.choices(range(1, 40), k=8)]
        numbers = {n for first, last in ranges for n in range(first, last + 1)}
        merged = line_ranges.merged(ranges)
        assert [n for first, last in merged for n in range(first, last + 1)] == sorted(numbers)
        assert line_ranges.count(merged) == len(numbers)
        assert line_ranges.of_text(line_ranges.as_text(ranges)) == merged


def test_words_that_are_no_range_are_left_out():
    assert line_ranges.of_text("3-9 x 12 9-3 -4") == [(3, 9), (12, 12)]
