from __future__ import annotations

from tests.unit.reporting.words.descriptions.test_criteria import STATED
from theodolite.reporting.results.document import criteria_entries


def test_the_results_file_keeps_every_statement_and_nobody_s_name():
    entries = criteria_entries(STATED)

    assert [(one["subject"], one["revision"]) for one in entries] == [
        ("selection", 1),
        ("selection", 2),
        ("recruitment", 1),
    ]
    assert "olga" not in str(entries)
