"""How often a drawn test draws: a few times in the everyday run, in full under CK_TEST_LONG.

Seeds are fixed, so that a failure comes back; CK_SEED=N draws from that one alone, CK_ROUNDS=N
draws
so often.  What a test records here stands in bench/results/long_proofs.json after a run with
--long.
"""

from __future__ import annotations

import os
import random
from typing import Callable

LONG = bool(os.environ.get("CK_TEST_LONG"))


def rounds(short: int, long: int) -> int:
    """The count to use now."""
    return int(os.environ.get("CK_ROUNDS") or (long if LONG else short))


def drawing(record_property, short: int, long: int, seed: int = 1) -> tuple[random.Random, int]:
    """A source of random numbers and the count of rounds, both recorded; the seed is printed."""
    seed, count = int(os.environ.get("CK_SEED") or seed), rounds(short, long)
    print("seed", seed)
    record_property("rounds", count)
    record_property("seed", str(seed))
    return random.Random(seed), count


def for_seeds(record_property, check: Callable[[int], None], short: int, long: int) -> None:
    """Calls `check(seed)` with 0, 1, 2, …, recorded; prints the seed that was reached."""
    count = rounds(short, long)
    seeds = [int(os.environ["CK_SEED"])] if "CK_SEED" in os.environ else range(count)
    record_property("rounds", len(seeds))
    record_property("seed", f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0]))
    seed = None
    try:
        for seed in seeds:
            check(seed)
    finally:
        print("seed", seed)
