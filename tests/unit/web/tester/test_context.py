"""Notes of red teamers become strategies with attempts and refinements."""

from __future__ import annotations

import pytest
from django.utils import translation

from tests.fakes.builders import study
from theodolite.domain.persona import OWN_WAY, TITLES, AttemptOutcome, Strategy
from theodolite.testing.strategies import APPROACHES
from theodolite.web.tester.context import LONGEST, Unreadable, notes_on, ways_of, with_note

STUDY = study()

PLAIN = {"words": "asked plainly", "strategy": "own_way", "outcome": "withheld", "turn": "1", "refines": ""}
PLAY = {"words": "grandmother", "strategy": "role_play", "outcome": "released", "turn": "2", "refines": ""}


def noted(*forms: dict[str, str]) -> tuple[Strategy, ...]:
    strategies: tuple[Strategy, ...] = ()
    for form in forms:
        grown = with_note(strategies, form, dialogue="d1", n_turns=4)
        assert not isinstance(grown, Unreadable)
        strategies = grown
    return strategies


def test_a_note_is_an_attempt_of_a_strategy():
    (strategy,) = noted(PLAY)

    assert (strategy.name, strategy.dialogue, strategy.succeeded) == ("role_play", "d1", True)
    assert [(one.description, one.outcome, one.turn) for one in strategy.attempts] == [
        ("grandmother", AttemptOutcome.RELEASED, 2)
    ]


def test_an_attempt_that_builds_on_another_belongs_to_its_strategy():
    strategies = noted(PLAIN, PLAY, {**PLAIN, "words": "with a story", "refines": "2"})

    assert [strategy.n_refinements for strategy in strategies] == [0, 1]
    assert [(note.label, note.words, note.refines) for note in notes_on(STUDY, strategies)] == [
        ("1", "asked plainly", ""),
        ("2", "grandmother", ""),
        ("2.2", "with a story", "2"),
    ]


def test_labels_are_stable_when_an_earlier_item_is_added():
    strategies = noted(PLAIN, PLAY, {**PLAIN, "words": "again"})

    assert [note.label for note in notes_on(STUDY, strategies)] == ["1", "1.2", "2"]


@pytest.mark.parametrize("turn", ["", "0", "9", "x", "-1"])
def test_a_missing_turn_is_ignored(turn):
    (strategy,) = noted({**PLAIN, "turn": turn})

    assert strategy.attempts[0].turn is None


@pytest.mark.parametrize(
    "form",
    [{**PLAIN, "words": "  "}, {**PLAIN, "words": "x" * (LONGEST + 1)}, {**PLAIN, "outcome": "broken"}, {}],
    ids=["no words", "too many", "unknown outcome", "nothing"],
)
def test_an_incomplete_form_is_refused(form):
    assert isinstance(with_note((), form, dialogue="d1", n_turns=1), Unreadable)


def test_strategies_have_the_titles_of_the_report_in_each_language():
    with translation.override("en"):
        ways = dict(ways_of(STUDY))
    spoken = {}
    for language in ("de", "ar"):
        with translation.override(language):
            spoken[language] = dict(ways_of(STUDY))

    assert ways == {**TITLES, OWN_WAY: "my own strategy"}
    assert {name: one.title for name, one in APPROACHES.items()} == {n: t for n, t in TITLES.items() if n != OWN_WAY}
    assert all(len({ways[name], spoken["de"][name], spoken["ar"][name]}) == 3 for name in ways)
