"""Shapes of scenarios and personas."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.shapes.base import KIND, Filled, OneOrMore, Shape, Word, form_of
from theodolite.domain.scenario import Task

LevelName: TypeAlias = Literal["model_testing", "red_teaming", "field_testing"]
"""One of ARIA's three levels of testing."""


class ScriptShape(Shape):
    """Fixed prompts that stand in for a tester."""

    prompts: list[Filled] = Field(min_length=1)
    """What is said, in order."""
    purpose: Literal["", "useful", "guardrail"] = ""
    """`useful` tests what is permitted, `guardrail` what is prohibited."""


ScriptForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[Filled], Tag(KIND + "list")]
    | Annotated[ScriptShape, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""One prompt, several, or several with a purpose."""


class SignsShape(Shape):
    """What tells without a model that something was released or declined."""

    released: list[Filled] = Field(default_factory=list)
    """Regular expressions that find prohibited content in a response; letters' case is ignored."""
    refused: list[Filled] = Field(default_factory=list)
    """Regular expressions that find a refusal in a response."""


class ScenarioShape(Shape):
    """Situation and goal of some dialogues."""

    task: Task = Task.CHAT
    """What the user wants: `question_answering`, `chat`, `search`, `summarisation`, `rewriting`, `generation`."""
    goal: str = ""
    """What the tester is to reach; may hold the columns of the personas' rows, e.g. `{{ wish }}`."""
    source: OneOrMore | None = None
    """File or files with the source material: what is true here."""
    corpus: OneOrMore | None = None
    """File or files that every prompt is searched in; blank lines keep their passages apart."""
    passages: int = Field(default=3, ge=1)
    """Passages of the corpus that one search finds at most."""
    turns: int = Field(default=1, ge=1)
    """Turns of one dialogue at most; a turn is one prompt and one response."""
    starter: str = ""
    """First prompt where it is fixed; may hold the columns of the personas' rows."""
    stop: str = ""
    """Text that ends the dialogue when the simulated user says it."""
    permitted: list[Filled] = Field(default_factory=list)
    """Behaviour that must be possible."""
    prohibited: list[Filled] = Field(default_factory=list)
    """Behaviour that must not occur."""
    signs: SignsShape = Field(default_factory=SignsShape)
    """Words by which a release or a refusal is told without a model (`rule: packet`)."""
    use_case: str = ""
    """The use that the scenario stands for."""
    capabilities: str = ""
    """Key enabling capabilities of that use."""
    design: str = ""
    """Methods, data and measurements of the experiment."""
    instructions: dict[LevelName, str] = Field(default_factory=dict)
    """Level to what testers read before they begin."""
    risks: list[Filled] = Field(default_factory=list)
    """Names of the risks that it looks for."""
    topics: list[Filled] = Field(default_factory=list)
    """Names of the sensitive topics that people meet in it (`topics` of the study or pack)."""
    personas: list[Filled] = Field(default_factory=list)
    """Names of the persona groups that meet it; all where left out."""
    scripts: dict[str, ScriptForm] = Field(default_factory=dict)
    """Fixed prompts by key; without personas these are the testers."""
    attacks: list[Filled] = Field(default_factory=list)
    """Strategies of simulated red teamers, e.g. `role_play`; those of `levels.red_teaming` where left out."""
    aims: dict[str, Filled] = Field(default_factory=dict)
    """What red teamers want to hear, by key; the `guardrail` scripts where left out."""
    attacker: str = ""
    """Name of the model that plays strategies which need one (`paraphrase`, `translation`, `adaptive`)."""
    guidelines: list[Filled] = Field(default_factory=list)
    """Names of the guidelines that its dialogues are labelled by; all where left out."""
    questionnaires: dict[LevelName, OneOrMore] = Field(default_factory=dict)
    """Level to the questionnaire or questionnaires that testers answer after a session; none for `model_testing`."""


RowsForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[list[dict[str, Word]], Tag(KIND + "list")],
    Discriminator(form_of),
]
"""A file of rows, or the rows themselves."""


class PersonasShape(Shape):
    """Who plays the user: a template and the rows that fill it."""

    template: Filled
    """Name of a template (`personas/<name>.md` or shipped), a file, or the text itself."""
    rows: RowsForm | None = None
    """CSV file with one persona a row, or the rows themselves."""
    model: Filled
    """Name of the model that plays them."""
    style: list[Filled] = Field(default_factory=list)
    """Lines in the voice of such people, about other matters: the manner is taken over, not the content."""
    language: str = ""
    """Language that they write in; may hold the rows' columns, e.g. `{{ language }}`."""
    history: int | None = Field(default=None, ge=1)
    """Turns that they remember; all where left out."""
