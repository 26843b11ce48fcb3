"""Label samples: the dialogues that people label, and the sampling design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.annotation import Annotation, Outcome
from theodolite.domain.identity import digest

ITEM = 12
"""Length of an item's name, which reveals neither the application nor any answer; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleStratum:
    """A stratum of dialogues with equal sampling probability.

    Attributes:
        name: Their common property, e.g. `bot-1.4: defect`; hidden from annotators.
        n_dialogues: Available dialogues; count.
        n_drawn: Sampled dialogues; count.
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
    """A sampled dialogue.

    Attributes:
        dialogue: Key of the dialogue.
        stratum: Name of its stratum.
        inclusion: Inclusion probability; fraction.
    """

    dialogue: str
    stratum: str
    inclusion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSample:
    """Dialogues sampled for people to label.

    Attributes:
        study: Name of the study.
        guideline: Name of the guideline to label by.
        guideline_version: Content hash of that guideline.
        judge: Name of the annotator whose labels define the strata; empty if there is none.
        judge_version: Content hash of that annotator; empty if there is none.
        seed: Seed of the sample.
        strata: Their strata.
        dialogues: The sampled dialogues, in the order of the label file.
        withheld: Dialogues excluded because their texts are withheld; count.
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
        """Return the hash under which the samples of a study are stored."""
        return digest("label samples", study)


def item_of(dialogue: str) -> str:
    """Return the name of a dialogue in a label file, given its key.

    The name is the same in every file, so no list of names is needed.
    """
    return digest("item", dialogue)[:ITEM]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSlip:
    """A question about a dialogue or turn in a label file.

    Attributes:
        item: Name of the dialogue in the file.
        turn: Number of the turn; None for the dialogue as a whole.
        guideline: Name of the guideline.
        version: First characters of the guideline's content hash.
        question: Name of the question.
        ask: The question.
        allowed: Permitted answers, as text.
        material: Source material of the application; empty for none.
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
    """A valid answer that a person wrote into a label file.

    Attributes:
        item: Name of the dialogue in the file.
        turn: Number of the turn; None for the dialogue as a whole.
        guideline: Name of the guideline.
        question: Name of the question.
        outcome: Outcome of the question.
        value: The label; None unless the outcome is `ANSWERED`.
        reason: Reason, in the person's words.
        annotator: The annotator.
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
        new: Annotations of dialogues that this person had not labelled before; first revisions.
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
        """All annotations to store."""
        return (*self.new, *self.revised)
