from types import SimpleNamespace

from tests.unit.cli.running.test_endings import status
from theodolite.cli.run import _present
from theodolite.usecases.running import RunOptions


def test_no_empty_report_is_written_while_another_process_works_on_all_dialogues(capsys):
    answers = SimpleNamespace(is_labelled=False)
    context = SimpleNamespace(path="support", evidence=lambda: SimpleNamespace(answers=answers))
    result = SimpleNamespace(status=status(dialogues=0, annotated=0, leased=60), took_s=1.0)

    code = _present(context, result, RunOptions(), out=None, as_json=False)

    told = capsys.readouterr()
    assert (code, told.out) == (3, "")
    assert told.err.splitlines() == [
        "Not finished: 0 of 60 dialogues are complete; other workers have leased 60 units.",
        "Resume  theodolite run support",
    ]
