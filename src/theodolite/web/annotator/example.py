"""Worked examples as sheets: what one practises on and is tested by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theodolite.annotation.rules import worked_examples
from theodolite.domain.annotating.blind import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.annotating.training import Marked
from theodolite.domain.annotation import Answer
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Instrument, QuestionLevel
from theodolite.domain.study import Study
from theodolite.web.annotator.items import Key, worded
from theodolite.web.annotator.sheet import Sheet, sheet_of

_SPEAKER = re.compile(r"^(User|You|Application|Reply|Assistant)\s*:\s*", re.IGNORECASE | re.MULTILINE)
_USERS = {"user", "you"}


def turns_of(text: str) -> tuple[BlindTurn, ...]:
    r"""Return the turns of an example that is written as `User: ...` and `Reply: ...`; what names nobody is a reply.

    Example:
        >>> [(turn.prompt, turn.response) for turn in turns_of("User: Who?\nReply: Ann.\nUser: Thanks")]
        [('Who?', 'Ann.'), ('Thanks', '')]
    """
    pieces = _SPEAKER.split(text)
    said = [("reply", pieces[0])] if pieces[0].strip() else []
    said += list(zip((one.lower() for one in pieces[1::2]), pieces[2::2], strict=True))
    pairs: list[list[str]] = []
    for who, words in said:
        if who in _USERS:
            pairs.append([words.strip(), ""])
        elif pairs and not pairs[-1][1]:
            pairs[-1][1] = words.strip()
        else:
            pairs.append(["", words.strip()])
    return tuple(BlindTurn(number=place, prompt=one, response=two) for place, (one, two) in enumerate(pairs, start=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFrame:
    """What stands around a worked example.

    Attributes:
        title: What the page is called.
        reference: What the study's scenario lays down; empty where it has several.
    """

    title: str
    reference: BlindReference


def reference_of(study: Study) -> BlindReference:
    """Return what a study with one scenario lays down; examples do not say which of several they are from."""
    if len(study.scenarios) != 1:
        return BlindReference()
    packet = study.scenarios[0].packet
    facts = tuple((source.name, source.text) for source in packet.sources)
    return BlindReference(permitted=packet.permitted, prohibited=packet.prohibited, facts=facts)


def example_sheet(guideline: Guideline, place: int, answers: Sequence[Answer], frame: ExampleFrame) -> Sheet:
    """Return a worked example as a sheet; its own answers and the other examples are left out.

    Each question is asked once, about the example as a whole, and only those
    that the example answers. Examples that stand beside questions are left out too.

    Args:
        guideline: Whose example it is.
        place: Number of the example among all that it has, from 0.
        answers: What was answered so far.
        frame: What stands around it.
    """
    example = worked_examples(guideline)[place]
    asked = [
        replace(question, level=QuestionLevel.DIALOGUE, exemplars=())
        for question in guideline.instrument.questions
        if question.name in example.answers
    ]
    names = {question.name for question in asked}
    asked = [replace(one, when=one.when if one.when and one.when.question in names else None) for one in asked]
    dialogue = BlindDialogue(
        name=f"example {place + 1}",
        turns=turns_of(example.dialogue),
        material=example.context,
        reference=frame.reference,
    )
    instrument = Instrument(name=guideline.instrument.name, questions=tuple(asked))
    return sheet_of(replace(guideline, examples=()), dialogue, answers, frame.title, instrument=instrument)


def feedback_on(marks: tuple[Marked, ...], given: Mapping[str, str]) -> dict[Key, str]:
    """Return what practice says at each question that was answered."""
    return {one.question: _said(one) for one in marks if one.question in given}


def _said(one: Marked) -> str:
    if one.is_right:
        near = (
            f" The example says {one.expected}; one point more or less counts too." if one.given != one.expected else ""
        )
        return f"Right.{near} {one.reason}".strip()
    return f"The example says: {worded(one.expected)}. {one.reason}".strip()
