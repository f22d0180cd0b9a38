"""bench/results/long_proofs.json from a run with CK_TEST_LONG: what each drawn test drew."""

from __future__ import annotations

import os
import sys

import plugin


class Recorder:
    """A pytest plugin: collects tests that recorded their rounds; a whole run writes the file."""

    def __init__(self, config):
        self.config = config
        self.load = round(os.getloadavg()[0], 1)  # before the run makes its own
        self.rows = []

    def pytest_runtest_logreport(self, report):
        """One row for each test that recorded `rounds`."""
        recorded = dict(report.user_properties)
        if report.when == "call" and "rounds" in recorded:
            name = report.nodeid.rpartition("/")[2].replace(".py::", ": ")
            self.rows.append(
                {
                    "test": name,
                    "rounds": recorded["rounds"],
                    "seed": recorded.get("seed", ""),
                    "seconds": round(report.duration, 1),
                    "outcome": report.outcome,
                }
            )

    def is_whole(self):
        """Whether all suites ran and nothing was selected: a part of the proofs is no results
        file.
        """
        options = self.config.option
        folders = {os.path.basename(os.path.normpath(word)) for word in self.config.args}
        selected = options.keyword or options.markexpr or options.collectonly
        return folders >= {"unit", "contract", "properties"} and not selected

    def pytest_sessionfinish(self, session):
        """Writes bench/results/long_proofs.json and what is made from it."""
        if not (self.rows and self.is_whole()):
            return
        sys.path.insert(0, os.path.join(plugin.ROOT, "bench"))  # late: a copy of tests/ has none
        import machine
        import table

        rows = sorted(self.rows, key=lambda row: row["test"])
        machine.write(
            "long_proofs", {"machine": dict(machine.facts(), load=self.load), "rows": rows}
        )
        table.main([])
