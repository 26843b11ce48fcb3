from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.monitoring import (
    MOST_REASONS,
    History,
    ScaleDirection,
    Score,
    ScoreColumns,
    WatchRules,
    in_order_of_time,
)


def test_all_meaningless_rules_are_reported_at_once():
    with pytest.raises(InputError) as caught:
        WatchRules(window=3, arl=1, reference=5, baseline=1.5, limit=0)

    assert all(f"`{name}`" in str(caught.value) for name in ("window", "arl", "reference", "baseline", "limit"))


BERLIN = timezone(timedelta(hours=1))


SCORES = (
    Score(value=4.0, at=datetime(2026, 3, 1, 14, 2, 11, 5, tzinfo=BERLIN), application="bot", item="i", defect=False),
    Score(value=None, outcome=Outcome.FAILED, session="s", batch="run 1", instruments={"judge": "2"}),
    Score(value=1.0, human=2.0, is_anchor=True, is_repeat=True, defect=True, reason="no brand"),
)


def test_columns_return_every_score_unchanged():
    columns = ScoreColumns(SCORES)

    assert tuple(columns) == SCORES
    assert columns == SCORES
    assert columns[-1] == SCORES[-1]
    assert columns[1:] == SCORES[1:]
    assert columns[0].at.utcoffset() == timedelta(hours=1)


def test_a_time_without_a_zone_stays_without_one():
    (score,) = ScoreColumns([Score(value=1, at=datetime(2026, 1, 1, 12))])  # noqa: DTZ001 - this is the case

    assert score.at == datetime(2026, 1, 1, 12)  # noqa: DTZ001


def test_columns_count_their_optional_values():
    columns = ScoreColumns(SCORES)

    assert (columns.n_anchors, columns.n_repeats, columns.n_of(Outcome.FAILED)) == (1, 1, 1)
    assert list(columns.anchors()) == [2]


def test_scores_are_sorted_by_time_only_if_all_have_one():
    late, early = (Score(value=value, at=datetime(2026, 1, 3 - value, tzinfo=UTC)) for value in (1, 2))

    assert [score.value for score in in_order_of_time(ScoreColumns([late, early]))] == [2, 1]
    assert [score.value for score in in_order_of_time(ScoreColumns([late, Score(value=3), early]))] == [1, 3, 2]


def test_only_the_latest_reasons_are_stored():
    columns = ScoreColumns(Score(value=1, reason=f"reason {number}") for number in range(MOST_REASONS + 2))

    assert [columns[row].reason for row in (0, 1, 2)] == ["", "", "reason 2"]


def test_a_history_stores_columns_for_any_input():
    one, other = (History(name="h", scores=scores, lowest=1, highest=5) for scores in (SCORES, list(SCORES)))

    assert one.columns is one.scores
    assert one == other


def test_only_an_answer_has_a_value():
    with pytest.raises(InputError, match="only an `answered` score"):
        Score(value=1.0, outcome=Outcome.FAILED)
    with pytest.raises(InputError, match="only an `answered` score"):
        Score(value=None)


def test_a_scale_has_a_length_and_contains_its_scores():
    with pytest.raises(InputError, match="a lower and a higher end"):
        History(name="h", scores=(), lowest=1, highest=1)
    with pytest.raises(InputError, match=r"1 of 2 scores lie outside the scale 1 to 5, e.g. 7"):
        History(name="h", scores=(Score(value=7), Score(value=2)), lowest=1, highest=5)


@pytest.mark.parametrize(("worse", "badness"), [(ScaleDirection.LOW, 0.25), (ScaleDirection.HIGH, 0.75)])
def test_badness_is_measured_from_the_good_end(worse, badness):
    assert History(name="h", scores=(), lowest=1, highest=5, worse=worse).badness(4) == badness
