"""Judges whose replies could not be read too often to trust what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import ModelJudge
from theodolite.domain.evidence import Evidence

_TOO_OFTEN = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableJudge:
    """A judge with more than one unparseable reply in ten.

    Attributes:
        name: Name of the judge.
        unparseable: Dialogues about which its reply could not be read; count.
        asked: Dialogues about which it replied at all; count.
        raw: One of these replies, as it came.
    """

    name: str
    unparseable: int
    asked: int
    raw: str


def unreadable_judges(evidence: Evidence) -> Iterator[UnreadableJudge]:
    """Yield the judges that could not be read too often, in order of the study file."""
    asked: Counter[str] = Counter()
    unparseable: Counter[str] = Counter()
    raws: dict[str, str] = {}
    for annotation in evidence.annotations:
        asked[annotation.annotator] += 1
        unread = [answer for answer in annotation.answers if answer.outcome is Outcome.UNPARSEABLE]
        if unread:
            unparseable[annotation.annotator] += 1
            raws.setdefault(annotation.annotator, unread[0].raw)
    for annotator in evidence.study.annotators:
        n = unparseable[annotator.name]
        if isinstance(annotator.labelling, ModelJudge) and n > _TOO_OFTEN * asked[annotator.name]:
            yield UnreadableJudge(
                name=annotator.name, unparseable=n, asked=asked[annotator.name], raw=raws[annotator.name]
            )
