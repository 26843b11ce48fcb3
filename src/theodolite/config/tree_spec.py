"""The `tree` key: measurement trees as files write them."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag, field_validator

from theodolite.config.spec import KIND, Filled, OneOrMore, Spec, Word, form_of
from theodolite.domain.choices import ImpactSide, Per, TransformForm, Weighing
from theodolite.domain.instrument import Orientation

Weighted: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[Filled], Tag(KIND + "list")]
    | Annotated[dict[str, Annotated[float, Field(ge=0)]], Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""One name, several, or names with weights."""

TreeScale: TypeAlias = Annotated[
    Annotated[Word, Tag(KIND + "text")] | Annotated[list[Word], Tag(KIND + "list")], Discriminator(form_of)
]
"""`1-10`, a list of labels, or `text`."""


class NodeSpec(Spec):
    """One node of a tree; `answers`, `transform`, `per` or `summary` tells what it is."""

    answers: Word | None = None
    """The question whose single answers are its leaves, `guideline.question`."""
    levels: OneOrMore | None = None
    """With `answers`: only these levels of testing, e.g. `red teaming`."""
    held_by: OneOrMore | None = None
    """With `answers`: only dialogues held by these: `script`, `simulated user`, `person`, `recorded`."""
    by: OneOrMore | None = None
    """With `answers`: only answers of these annotators, or of `person`, `model`, `rule`, `reference`, `tester`."""
    among: dict[str, Word] | None = None
    """With `answers`: only dialogues of these groups: column to value."""
    scale: TreeScale | None = None
    """What may answer, or the range that values are moved to."""
    orientation: Orientation | None = None
    """Which end is the bad one: `higher_is_worse` or `lower_is_worse`."""
    transform: TransformForm | None = None
    """What is done to each value: `reverse`, `rescale` or `recode`."""
    values: dict[str, float | None] | None = None
    """With `transform: recode`: value to the number in its place; `null` leaves an answer out."""
    per: Per | None = None
    """One value for each `dialogue`, each `turn`, or each `annotator` of a dialogue in place of several."""
    summary: Filled | None = None
    """How the children are summed up: `mean`, `median`, `scale-normalised median`, `max`, `product`, ..."""
    of: Weighted | None = None
    """What lies below: a name, names, or names with weights."""
    weigh: Weighing | None = None
    """Whether each `dialogue` or each `answer` weighs one."""
    side: ImpactSide | None = None
    """Whether the node is about `positive` or `negative` impacts."""
    beside: OneOrMore | None = None
    """Nodes that are shown with it and do not enter its value."""
    title: str | None = None
    """Name in reports."""
    about: str | None = None
    """What it says, in a sentence."""

    @field_validator("values", mode="before")
    @classmethod
    def _null_is_nothing(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {key: None if getattr(value, "tag", "") == "null" else value for key, value in values.items()}


class DimensionSpec(Spec):
    """What one branch of a tree is about."""

    definition: str = ""
    """What it is."""
    risks: list[Filled] = Field(default_factory=list)
    """Risks that belong to it."""
    metrics: list[Filled] = Field(default_factory=list)
    """What is measured for it, in words."""
    criteria: list[Filled] = Field(default_factory=list)
    """What its values are held against, in words."""
    crosswalk: Weighted | None = None
    """Questions, defect rules or guidelines that tell about it, perhaps with weights."""


class TreeSpec(Spec):
    """A measurement tree: a topology to be grown, or nodes written out."""

    tree: str = ""
    """Name of the tree; that of the file where left out."""
    edition: Word = ""
    """Edition, set by its author."""
    about: str = ""
    """What it is and where it comes from."""
    topology: str = ""
    """`six-levels` or `five-levels`: grown over the study's guidelines; in place of `nodes`."""
    nodes: dict[str, NodeSpec] = Field(default_factory=dict)
    """Nodes by name."""
    dimensions: dict[str, DimensionSpec] = Field(default_factory=dict)
    """What the branches are about, by node."""


TreeForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[Filled], Tag(KIND + "list")]
    | Annotated[TreeSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""Name or names of trees, or a tree written out."""
