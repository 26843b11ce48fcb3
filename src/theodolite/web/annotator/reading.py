"""Reading: what a browser sends of one question becomes an answer, or is said to be none."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.assessment.quoting import plain_words
from theodolite.domain.annotating.blind import BlindDialogue
from theodolite.domain.annotation import SOURCE_MATERIAL, WAYS_OUT, Answer, Outcome, Quote
from theodolite.web.annotator.items import Item

MOST_NOTE = 2000
"""Length of a note at most; characters."""

MOST_TEXT = 10_000
"""Length of an answer in own words at most; characters."""

MOST_QUOTES = 20
"""Quotes of one answer at most; count."""


class Unreadable(ValueError):
    """What was sent is no answer to the question; the text says why."""


def answer_in(sent: Mapping[str, str], item: Item, dialogue: BlindDialogue) -> Answer | None:
    """Return what was sent for a question; None where nothing was chosen or written.

    Args:
        sent: Fields of the form.
        item: The question at its place.
        dialogue: What was said; quotes are looked up in it.

    Raises:
        Unreadable: If the value is no answer to the question.
    """
    value = sent.get(f"a:{item.key}", "").strip()
    if not value:
        return None
    outcome, kept = Outcome.ANSWERED, value
    if value in {one.value for one in item.ways_out}:
        outcome = WAYS_OUT[value]
    elif not item.question.scale.admits(value):
        raise Unreadable(_why(item, value))
    elif item.is_text:
        kept = value[:MOST_TEXT]
    return Answer(
        question=item.question.name,
        outcome=outcome,
        value=kept if outcome is Outcome.ANSWERED else None,
        turn=item.turn,
        reasoning=sent.get(f"note:{item.key}", "").strip()[:MOST_NOTE],
        evidence=quotes_in(sent.get(f"quotes:{item.key}", ""), item.turn, dialogue),
    )


def quotes_in(lines: str, turn: int | None, dialogue: BlindDialogue) -> tuple[Quote, ...]:
    """Return the quotes that some lines hold, each with the turn that it stands in.

    It is looked up in the turn that is asked about, then in the others, then in
    the source material; what stands nowhere is kept and said to be unverified.
    """
    wanted = list(dict.fromkeys(line.strip() for line in lines.splitlines() if line.strip()))
    return tuple(_quote(text, turn, dialogue) for text in wanted[:MOST_QUOTES])


def _quote(text: str, turn: int | None, dialogue: BlindDialogue) -> Quote:
    words = plain_words(text)
    said = [
        (one.number, side)
        for one in sorted(dialogue.turns, key=lambda one: one.number != turn)
        for side in (one.response, one.prompt)
    ]
    places = [*said, (SOURCE_MATERIAL, dialogue.material)]
    found = next((number for number, side in places if words and words in plain_words(side)), None)
    return Quote(turn=turn or 1 if found is None else found, text=text, verified=found is not None)


def _why(item: Item, value: str) -> str:
    if item.is_number:
        return f"A number from {item.lowest} to {item.highest} is expected; `{value[:40]}` came."
    return f"`{value[:40]}` is none of the choices."
