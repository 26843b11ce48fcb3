"""Prompts are made again, and shown only if they are those that were sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.builders import dialogue, judge, sessions_of, study, unit
from theodolite.assessment.judge.prompt import judge_messages
from theodolite.domain.annotation import Annotation
from theodolite.domain.flow import JournalEntry, Reply, Waiting, advance, begin
from theodolite.domain.identity import version_of
from theodolite.domain.run import UnitKind
from theodolite.domain.status import Call
from theodolite.usecases.measuring import calls_of
from theodolite.usecases.running import StudyFlows

STUDY = study(annotators=(judge(),))
SAID = dialogue(key="k")
JUDGE, GUIDELINE = STUDY.annotators[0], STUDY.guidelines[0]
LABEL = Annotation(
    unit="a",
    dialogue="k",
    annotator=JUDGE.name,
    annotator_version="",
    guideline=GUIDELINE.name,
    instrument_version="",
    answers=(),
)
UNREADABLE = Reply(text="I would rather not say.")


class Journals:
    """A store of journals alone."""

    def __init__(self, **journals):
        self._journals = journals

    def journals(self, units):
        return {unit: self._journals.get(unit, []) for unit in units}


@pytest.fixture
def journal():
    """The replies of a judge that could not be read twice, as a run stores them."""
    asked = unit(kind=UnitKind.ANNOTATION, key="a", annotator=JUDGE.name, position=0)
    flow = StudyFlows(STUDY, sessions_of(STUDY), ()).annotation(asked, SAID)
    entries, state = [], begin(flow)
    while isinstance(state, Waiting):
        entries.append(JournalEntry(position=len(entries), request_hash=version_of(state.request), reply=UNREADABLE))
        state = advance(flow, state, UNREADABLE)
    return entries


def test_every_request_of_a_judge_is_reconstructed(journal):
    first, second = calls_of(Journals(a=journal), STUDY, [SAID], [LABEL])["a"]

    assert first == Call(reply=UNREADABLE, prompt=judge_messages(GUIDELINE, SAID))
    assert second.prompt[: len(first.prompt)] == first.prompt
    assert len(second.prompt) > len(first.prompt)


def test_texts_that_changed_since_are_not_shown(journal):
    reworded = replace(SAID, turns=(replace(SAID.turns[0], response="Something else."), *SAID.turns[1:]))

    calls = calls_of(Journals(a=journal), STUDY, [reworded], [LABEL])["a"]

    assert calls == (Call(reply=UNREADABLE, prompt=None), Call(reply=UNREADABLE, prompt=None))


def test_a_dialogue_has_its_replies_and_a_human_label_has_none(journal):
    by_hand = replace(LABEL, unit="")

    calls = calls_of(Journals(k=journal[:1]), STUDY, [SAID], [by_hand])

    assert calls == {"k": (Call(reply=UNREADABLE),)}
