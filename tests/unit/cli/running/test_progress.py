import pytest

from tests.fakes.builders import dialogue
from tests.fakes.clock import FakeClock
from theodolite.cli.running import BarProgress, Counts, PlainProgress
from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.run import Failure, FailureKind, FailureSource, Spending

FAILED = Failure(
    unit="u", label="d", application="bot", party=FailureSource.APPLICATION, kind=FailureKind.TIMED_OUT, message="30 s"
)


def annotation(outcome=Outcome.UNPARSEABLE):
    answer = Answer(question="q", outcome=outcome)
    return Annotation(
        unit="u",
        dialogue="d",
        annotator="a",
        annotator_version="v",
        guideline="g",
        instrument_version="i",
        answers=(answer,),
    )


@pytest.fixture
def clock():
    return FakeClock()


def test_the_progress_line_is_the_documented_one(clock):
    counts = Counts(clock)
    counts.begin(sessions=60, annotations=0, done=40, annotated=0)
    counts.spent(Spending(calls=88, cost_microusd=500_000))
    for result in [dialogue()] * 5 + [FAILED] * 2:
        clock.passed_s += 1
        counts.session(result)
    counts.spent(Spending(calls=186, cost_microusd=610_000))

    words = counts.words(counts.sessions, of_sessions=True)

    assert words == "47/60  2 failed  98 calls, 14.0/s  $0.61  0:13 left"


def test_calls_show_progress_before_the_first_dialogue_ends(clock):
    counts = Counts(clock)
    counts.begin(sessions=60, annotations=0, done=0, annotated=0)
    counts.spent(Spending(calls=0))
    clock.passed_s += 10
    counts.spent(Spending(calls=1_370))

    assert counts.words(counts.sessions, of_sessions=True).startswith("0/60  0 failed  1,370 calls, 137.0/s")


def test_unparseable_and_failed_annotations_are_counted_separately(clock):
    counts = Counts(clock)
    counts.begin(sessions=0, annotations=60, done=0, annotated=30)
    for result in (annotation(), annotation(), annotation(Outcome.MISSING), FAILED):
        counts.annotation(result)

    assert counts.words(counts.annotations, of_sessions=False) == "34/60  2 unparseable  1 failed"


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(0, ""), (999, "  999 tokens"), (12_340, "  12.3k tokens"), (4_560_000, "  4.6M tokens")],
)
def test_tokens_are_shown_if_there_is_room(clock, tokens, words):
    counts = Counts(clock)
    counts.begin(sessions=60, annotations=60, done=0, annotated=0)
    counts.spent(Spending(tokens_in=tokens))

    assert counts.words(counts.annotations, of_sessions=False) == f"0/60  0 unparseable{words}"
    assert "tokens" not in counts.words(counts.sessions, of_sessions=True)


def test_an_unknown_price_is_not_shown_as_zero_cost(clock):
    counts = Counts(clock)
    counts.begin(sessions=60, annotations=0, done=0, annotated=0)
    counts.spent(Spending(calls=3, tokens_in=500, unpriced_calls=3))

    assert counts.words(counts.sessions, of_sessions=True) == "0/60  0 failed  0 calls, 0.0/s  500 tokens"


def test_a_log_gets_a_line_while_sessions_are_running(clock, capsys):
    progress = PlainProgress(clock)
    progress.begin(sessions=1, annotations=0, done=0, annotated=0)
    clock.passed_s += 10

    progress.spent(Spending(calls=7))

    assert capsys.readouterr().out.startswith("test 0/1  0 failed  0 calls, 0.0/s")


@pytest.mark.parametrize(
    ("done", "annotated", "words"),
    [
        (0, 0, ""),
        (47, 33, "Already complete: 47 of 60 dialogues, 33 of 60 annotations; running the rest.\n"),
        (60, 60, "Already complete: 60 of 60 dialogues, 60 of 60 annotations; nothing to run.\n"),
    ],
)
def test_a_resumed_run_states_what_is_not_repeated(clock, capsys, done, annotated, words):
    PlainProgress(clock).begin(sessions=60, annotations=60, done=done, annotated=annotated)

    assert capsys.readouterr().out == words


@pytest.mark.parametrize(("columns", "bar"), [("80", 20), ("64", 15), ("40", 0)])
def test_the_bar_shrinks_for_the_text(clock, capsys, monkeypatch, columns, bar):
    monkeypatch.setenv("COLUMNS", columns)
    progress = BarProgress(clock)
    progress.begin(sessions=60, annotations=60, done=60, annotated=60)
    progress.spent(Spending(tokens_in=45_500))
    progress.end()

    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  assess"))
    assert line.count("━") == bar
    assert columns == "40" or line.rstrip().endswith("60/60  0 unparseable  45.5k tokens")


def test_work_of_other_processes_is_counted(clock):
    counts = Counts(clock)
    counts.begin(sessions=60, annotations=60, done=0, annotated=0)
    clock.passed_s += 10
    counts.session(dialogue())

    counts.over(sessions=30, annotations=30)
    counts.session(dialogue())
    counts.over(sessions=12, annotations=12)

    assert counts.words(counts.sessions, of_sessions=True) == "31/60  0 failed  0 calls, 0.0/s  $0.00  0:09 left"


def test_the_remaining_time_is_unknown_without_data(clock):
    counts = Counts(clock)
    counts.begin(sessions=60, annotations=60, done=50, annotated=50)

    assert (counts.left, counts.calls_per_s) == ("", 0.0)


@pytest.mark.parametrize(
    ("n", "fresh", "left"), [(40, 3, ""), (40, 4, "1:30 left"), (9_000, 99, ""), (9_000, 100, "14:50 left")]
)
def test_the_first_completed_session_gives_no_estimate_for_concurrent_ones(clock, n, fresh, left):
    counts = Counts(clock)
    counts.begin(sessions=n, annotations=0, done=0, annotated=0)
    clock.passed_s += 10
    for _ in range(fresh):
        counts.session(dialogue())

    assert counts.left == left


def test_a_log_gets_at_most_one_line_every_ten_seconds(clock, capsys):
    progress = PlainProgress(clock)
    progress.begin(sessions=100, annotations=0, done=0, annotated=0)
    for _ in range(60):
        clock.passed_s += 0.5
        progress.session(dialogue())
    progress.end()

    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[2].partition(" ")[0] for line in lines] == ["20/100", "40/100", "60/100"]


def test_a_quiet_log_leaves_standard_output_to_the_json_object(clock, capsys):
    progress = PlainProgress(clock, quiet=True)
    progress.begin(sessions=100, annotations=1, done=0, annotated=0)
    clock.passed_s += 11
    progress.annotation(annotation())

    written = capsys.readouterr()
    assert written.out == ""
    assert "assess 1/1" in written.err


def test_bars_are_drawn_and_remain_after_the_end(clock, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    progress = BarProgress(clock)
    progress.begin(sessions=2, annotations=2, done=0, annotated=0)
    progress.session(dialogue())
    progress.annotation(annotation())
    progress.spent(Spending(calls=1))
    progress.end()

    written = capsys.readouterr().out
    assert "test" in written
    assert "2/2" not in written
    assert "1/2  1 unparseable" in written
    assert "\x1b[3" not in written
