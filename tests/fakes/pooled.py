"""A study whose dialogues a pool of people shares: two labels a dialogue, from five people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.fakes.builders import NUMBERS, by_hand, guideline, live, question, rule
from tests.fakes.evidence import annotation_of, dialogue_of, run_of
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, HandLabels, WordRule
from theodolite.domain.dialogue import Ending, Level, TesterType, Turn
from theodolite.domain.evidence import Evidence, listed_evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest
from theodolite.domain.instrument import Operator
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study

PEOPLE_NAMES = ("ann", "ben", "cleo", "dan", "eve")

GIVEN = {
    "d1": {"ann": "yes", "ben": "yes"},
    "d2": {"ben": "yes", "cleo": "no"},
    "d3": {"cleo": "no", "dan": "no"},
    "d4": {"dan": "no", "eve": "no"},
    "d5": {"eve": "no", "ann": None},
    "d6": {},
}
"""Labels by dialogue; None is an answer without a label."""


WORDS = Annotator(
    name="words",
    kind=AnnotatorKind.RULE,
    guideline="polite",
    labelling=WordRule(any_of=("sorry",), then="yes", otherwise="no", question="label"),
)


def _person(name: str, is_representative: bool) -> Annotator:
    return replace(by_hand(name), labelling=HandLabels(is_representative=is_representative))


def _guideline(*, is_judged: bool) -> Guideline:
    main = question(may_be_unable=True)
    if not is_judged:
        return guideline(main)
    harm = replace(rule(Operator.AT_LEAST, "4", question="harm"), name="harmful")
    return guideline(main, question("harm", NUMBERS, may_be_unable=True), rules=(rule(), harm))


def pooled_evidence(
    given: dict[str, dict[str, str | None]] = GIVEN,
    *,
    final: dict[str, str] | None = None,
    open_: Sequence[tuple[str, str]] = (),
    judged: Mapping[str, str] | None = None,
    is_representative: bool = True,
) -> Evidence:
    """Return the evidence of a pool.

    Args:
        given: Labels by dialogue and person.
        final: Final labels by dialogue.
        open_: Dialogues that somebody was assigned and has not labelled: person and dialogue.
        judged: Labels by dialogue of a rule beside people, which leaves a second question to them.
        is_representative: Whether people's labels may stand for all dialogues beside that rule.
    """
    working = {name for own in given.values() for name in own} | {name for name, _ in open_}
    names = tuple(sorted(working))
    study = Study(
        name="pooled",
        applications=(live(),),
        scenarios=(Scenario(name="shop", goal="Buy"),),
        guidelines=(_guideline(is_judged=judged is not None),),
        annotators=(*([WORDS] if judged is not None else []), *(_person(name, is_representative) for name in names)),
    )
    sessions = [
        PlannedSession(
            label=label,
            application="bot",
            scenario="shop",
            tester=Script(key=label, prompts=("Hello",)),
            level=Level.MODEL_TESTING,
            held_by=TesterType.SCRIPT,
            pair_key=digest(label),
            cluster="",
        )
        for label in given
    ]
    turn = Turn(number=1, prompt="Hello", response="Yes.")
    dialogues = {session.label: dialogue_of(session, (turn,), ending=Ending.SCRIPT_END) for session in sessions}
    annotations = [
        annotation_of(study, study.annotator(name), dialogues[label].key, (_answer(value),))
        for label, own in given.items()
        for name, value in own.items()
    ]
    annotations += [
        annotation_of(study, WORDS, dialogues[label].key, (_answer(value),)) for label, value in (judged or {}).items()
    ]
    finals = [
        Adjudication(
            dialogue=dialogues[label].key,
            guideline="polite",
            question="label",
            outcome=Outcome.ANSWERED,
            value=value,
            origin=AdjudicationOrigin.RECORDED,
        )
        for label, value in (final or {}).items()
    ]
    return listed_evidence(
        study,
        run_of(study),
        sessions,
        dialogues=dialogues.values(),
        annotations=annotations,
        adjudications=finals,
        assignments=[
            *((one.annotator, one.dialogue) for one in annotations if one.annotator != WORDS.name),
            *((name, dialogues[label].key) for name, label in open_),
        ],
    )


def _answer(value: str | None) -> Answer:
    outcome = Outcome.MISSING if value is None else Outcome.ANSWERED
    return Answer(question="label", outcome=outcome, value=value)
