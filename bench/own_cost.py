#!/usr/bin/env python3
"""What the plugin itself costs: tokens in a session's requests even when nothing is shortened.

    python3 bench/own_cost.py

Writes bench/results/own_cost.json and prints its table, as counted by commands/own_cost.py.
"""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "hooks")]
import machine  # noqa: E402
from contextkernel.commands.own_cost import rows, skills  # noqa: E402, F401


def main() -> int:
    facts = machine.facts()
    made = rows(machine.ROOT)
    path = machine.write("own_cost", {"machine": facts, "rows": made})
    print(
        machine.markdown(
            ["what", "how many", "tokens", "when"],
            [[row[key] for key in ("what", "count", "tokens", "when")] for row in made],
        )
    )
    print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
