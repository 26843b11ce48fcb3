"""Label samples: the dialogues that people are to label, and how they were drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.annotation import Annotation, Outcome
from theodolite.domain.identity import digest

ITEM = 12
"""Characters of an item's name, which reveals neither the application nor any answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleStratum:
    """Dialogues that were drawn from alike.

    Attributes:
        name: Their common property, e.g. `bot-1.4: defect`; hidden from annotators.
        n_dialogues: Dialogues in it that could be drawn; count.
        n_drawn: Dialogues that were drawn; count.
    """

    name: str
    n_dialogues: int
    n_drawn: int

    @property
    def inclusion(self) -> float:
        """Sampling probability of each of its dialogues; fraction."""
        return self.n_drawn / self.n_dialogues if self.n_dialogues else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledDialogue:
    """One dialogue that was drawn.

    Attributes:
        dialogue: Key of the dialogue.
        stratum: Name of the stratum that it was drawn from.
        inclusion: Probability with which it was drawn; fraction.
    """

    dialogue: str
    stratum: str
    inclusion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSample:
    """Dialogues drawn for people to label.

    Attributes:
        study: Name of the study.
        guideline: Name of the guideline that they are to be labelled by.
        guideline_version: Content hash of that guideline.
        judge: Name of the annotator whose verdicts define the strata; empty if there is none.
        judge_version: Content hash of that annotator; empty likewise.
        seed: Of the draw.
        strata: Their strata.
        dialogues: The sampled dialogues, in the order of the label file.
        withheld: Dialogues that could not be drawn, since their texts are withheld; count.
    """

    study: str
    guideline: str
    guideline_version: str
    judge: str
    judge_version: str
    seed: int
    strata: tuple[SampleStratum, ...]
    dialogues: tuple[SampledDialogue, ...]
    withheld: int = 0

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the samples of a study are filed."""
        return digest("label samples", study)


def item_of(dialogue: str) -> str:
    """Return the name of a dialogue in a label file, given its key.

    It is the same in every file, so no list of names is needed.
    """
    return digest("item", dialogue)[:ITEM]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSlip:
    """One question about one dialogue or turn, as a label file puts it to a person.

    Attributes:
        item: Name of the dialogue in the file.
        turn: Number of the turn; None for the dialogue as a whole.
        guideline: Name of the guideline.
        version: First characters of the guideline's content hash.
        question: Name of the question.
        ask: The question.
        allowed: Permitted answers, in words.
        material: Source material that the application was given; empty for none.
        dialogue: The dialogue.
    """

    item: str
    turn: int | None
    guideline: str
    version: str
    question: str
    ask: str
    allowed: str
    material: str
    dialogue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabel:
    """One answer that a person wrote into a label file, found to be valid.

    Attributes:
        item: Name of the dialogue in the file.
        turn: Number of the turn; None for the dialogue as a whole.
        guideline: Name of the guideline.
        question: Name of the question.
        outcome: Status of the question.
        value: The label; None unless the outcome is `ANSWERED`.
        reason: Why, in the person's words.
        annotator: Who labelled.
        replicate: Number of the repetition by the same person, from 1.
    """

    item: str
    turn: int | None
    guideline: str
    question: str
    outcome: Outcome
    value: str | None
    reason: str
    annotator: str
    replicate: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLabels:
    """Effect of a label file on the stored labels.

    Attributes:
        new: Annotations of dialogues that this person had not labelled; first revisions.
        revised: Annotations that differ from this person's earlier ones; further revisions.
        unchanged: Dialogues with equal stored labels; count.
        annotator_attributes: The file's attributes of people: annotator to attribute to group.
    """

    new: tuple[Annotation, ...]
    revised: tuple[Annotation, ...]
    unchanged: int
    annotator_attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def to_store(self) -> tuple[Annotation, ...]:
        """Everything that is to be stored."""
        return (*self.new, *self.revised)
