"""Annotators: who labels, always with a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.annotation import AnnotatorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudge:
    """A language model that reads the guideline and the dialogue.

    Attributes:
        model: Name of the model in the study.
    """

    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRule:
    """A rule on the words of the responses.

    Attributes:
        any_of: Regular expressions, letters' case ignored.
        then: Label where one of them is found in a response.
        otherwise: Label where none is.
    """

    any_of: tuple[str, ...]
    then: str
    otherwise: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketRule:
    """A rule on the signs of the scenario's test packet: what was released, what was declined.

    It answers the questions `released` and `withheld` with yes or no.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLabels:
    """Labels that stand in a column of the recorded file.

    Attributes:
        column: Name of the column.
        spelling: What the file writes to the label that is meant.
    """

    column: str
    spelling: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandLabels:
    """Labels that a person gives by hand, on a page or in a label file, when the dialogues have been held.

    They are no work of a run: nobody is asked by the program, and a run is whole without them.
    """


Labelling = ModelJudge | WordRule | PacketRule | RecordedLabels | HandLabels
"""How an annotator comes to its labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """Who labels dialogues under one guideline.

    Attributes:
        name: Identifier within the study.
        kind: Person, model or rule.
        guideline: Name of the guideline.
        labelling: How it comes to its labels.
        title: What reports call it; the name where empty.
    """

    name: str
    kind: AnnotatorKind
    guideline: str
    labelling: Labelling
    title: str = ""

    @property
    def by_hand(self) -> bool:
        """Whether a person labels by hand, outside of any run."""
        return isinstance(self.labelling, HandLabels)
