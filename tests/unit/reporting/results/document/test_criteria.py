from __future__ import annotations

from tests.unit.reporting.words.descriptions.test_criteria import STATED
from theodolite.reporting.results.document import criteria_entries


def test_the_results_file_contains_every_statement_and_no_name_of_a_person():
    entries = criteria_entries(STATED)

    assert [(one["subject"], one["revision"]) for one in entries] == [
        ("selection", 1),
        ("selection", 2),
        ("recruitment", 1),
    ]
    assert "olga" not in str(entries)
