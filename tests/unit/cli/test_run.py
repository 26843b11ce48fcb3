from types import SimpleNamespace

from tests.unit.cli.test_endings import standing
from theodolite.cli.run import _present


def test_where_another_process_holds_all_dialogues_no_report_of_nothing_is_written(capsys):
    answers = SimpleNamespace(is_labelled=False)
    bench = SimpleNamespace(path="support", evidence=lambda: SimpleNamespace(answers=answers))
    sat = SimpleNamespace(standing=standing(dialogues=0, annotated=0, leased=60), took_s=1.0)

    code = _present(bench, sat, out=None, as_json=False, first=None)

    told = capsys.readouterr()
    assert (code, told.out) == (3, "")
    assert told.err.splitlines() == [
        "Not finished: 0 of 60 dialogues are held; another process works on the rest.",
        "Go on with  theodolite run support",
    ]
