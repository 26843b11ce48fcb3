"""Embedded dialogues: which of a run's dialogues stand in the report's one file.

Up to a bound all of them do. Beyond it the file would be slow to open, so it
holds those that tell most and a sample of the others, and says how many it
holds and how to read the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import ModelJudge
from theodolite.domain.identity import keyed_draw
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures

LETTERS = 10_000_000
"""Letters of dialogues that a report may hold, about: what browsers open without a wait worth mentioning."""

_AROUND = 400
"""Letters that stand around the texts of one dialogue, about: names, labels, punctuation; count."""

_TELLING_PART = 0.8
"""Share of the bound that the telling dialogues may fill; fraction."""

_DIALOGUES_PART = 0.6
"""Share of the bound that dialogues may fill where judges' prompts and replies want room too; fraction."""

_TELLING = ("defect", "disagreement", "failed", "unparseable")
"""Sets whose dialogues tell most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The dialogues that stand in a report.

    Attributes:
        places: Their places in the plan, in order.
        n_planned: Planned dialogues; count.
        n_telling: Telling dialogues among them; count.
        n_all_telling: Telling dialogues of the whole run; count.
        show_command: What one types before the label of any other dialogue.
        room: Letters that are left for the prompts and raw replies of judges; count.
    """

    places: Sequence[int]
    n_planned: int
    n_telling: int = 0
    n_all_telling: int = 0
    show_command: str = ""
    room: int = 0
    _index: dict[int, int] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether all planned dialogues stand in the file."""
        return len(self.places) == self.n_planned

    @property
    def words(self) -> str:
        """How many stand in the file and how to read the rest; empty where all do."""
        if self.is_whole:
            return ""
        here, planned = figures.count(len(self.places)), figures.count(self.n_planned)
        telling, all_telling = figures.count(self.n_telling), figures.count(self.n_all_telling)
        rest = figures.count(len(self.places) - self.n_telling)
        return (
            f"{here} of {planned} dialogues stand in this file: {telling} of the {all_telling} with a defect, "
            f"a disagreement, a failure or no label, and {rest} of the others, drawn by the study's seed. "
            f"All counts are of all dialogues. To read another one:  {self.show_command} LABEL"
        )

    def within(self, places: Iterable[int]) -> Iterator[int]:
        """Yield at which place in the file those dialogues stand that are in it."""
        if self.is_whole:
            yield from places
            return
        yield from (self._index[place] for place in places if place in self._index)


def embedded_in(subject: Subject, first: Collection[int], *, letters: int = LETTERS) -> Embedded:
    """Return which dialogues stand in a report.

    Args:
        subject: The run; its chips are made.
        first: Places of dialogues that must be there.
        letters: Letters that they may have, about; count.
    """
    sizes, planned = subject.evidence.answers.characters, len(subject.cases)
    room = letters - sum(sizes) - _AROUND * planned
    if room >= 0:
        return Embedded(places=range(planned), n_planned=planned, room=room)
    bound = _DIALOGUES_PART * letters if _has_judge(subject) else letters
    telling = _telling(subject)
    chosen = dict.fromkeys(first)
    used = sum(sizes[place] + _AROUND for place in chosen)
    for group, most in ((telling, _TELLING_PART * bound), (set(range(planned)) - telling, bound)):
        for place in _drawn(subject, group - chosen.keys()):
            used += sizes[place] + _AROUND
            if used > most:
                break
            chosen[place] = None
    places = sorted(chosen)
    held = sum(sizes[place] + _AROUND for place in places)
    return Embedded(
        places=places,
        n_planned=planned,
        n_telling=len(telling & chosen.keys()),
        n_all_telling=len(telling),
        show_command=subject.facts.show_command,
        room=max(0, letters - held),
        _index={place: number for number, place in enumerate(places)},
    )


def _has_judge(subject: Subject) -> bool:
    return any(isinstance(annotator.labelling, ModelJudge) for annotator in subject.study.annotators)


def _telling(subject: Subject) -> set[int]:
    """Return the places of the dialogues with a defect, a disagreement, a failure or no label."""
    kept = subject.sets.sets
    telling = {place for name in _TELLING if name in kept for place in kept[name].cases}
    for account in subject.accounts:
        for part in account.unmeasured:
            telling.update(part.cases if part.outcome is not Outcome.NOT_APPLICABLE else ())
    return telling


def _drawn(subject: Subject, places: Collection[int]) -> list[int]:
    """Return places in an order that the study's seed draws."""
    seed, label = subject.study.sampling.seed, subject.evidence.sessions.label
    return sorted(places, key=lambda place: keyed_draw(seed, "embedded in the report", label(place)))
