"""Specs of scenarios and personas."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.specs.base import KIND, Filled, OneOrMore, Spec, Word, form_of
from theodolite.domain.scenario import Task

LevelName: TypeAlias = Literal["model_testing", "red_teaming", "field_testing"]
"""One of ARIA's three levels of testing."""


class ScriptSpec(Spec):
    """Fixed prompts that stand in for a tester."""

    prompts: list[Filled] = Field(min_length=1)
    """Prompts, in order."""
    purpose: Literal["", "useful", "guardrail"] = ""
    """`useful` tests what is permitted, `guardrail` what is prohibited."""


ScriptForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[Filled], Tag(KIND + "list")]
    | Annotated[ScriptSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""One prompt, several, or several with a purpose."""


class SignsSpec(Spec):
    """What tells without a model that something was released or declined."""

    released: list[Filled] = Field(default_factory=list)
    """Regular expressions that find prohibited content in a response; letters' case is ignored."""
    refused: list[Filled] = Field(default_factory=list)
    """Regular expressions that find a refusal in a response."""


class ScenarioSpec(Spec):
    """Situation and goal of some dialogues."""

    task: Task = Task.CHAT
    """What the user wants: `question_answering`, `chat`, `search`, `summarisation`, `rewriting`, `generation`."""
    goal: str = ""
    """Goal of the tester; may use the columns of the personas' rows, e.g. `{{ wish }}`."""
    source: OneOrMore | None = None
    """File or files with the source material."""
    corpus: OneOrMore | None = None
    """File or files to search for every prompt; blank lines separate passages."""
    passages: int = Field(default=3, ge=1)
    """Maximum number of passages in a search result."""
    turns: int = Field(default=1, ge=1)
    """Maximum number of turns of a dialogue; a turn is one prompt and one response."""
    starter: str = ""
    """Fixed first prompt; may use the columns of the personas' rows."""
    stop: str = ""
    """Text of the simulated user that ends the dialogue."""
    permitted: list[Filled] = Field(default_factory=list)
    """Behaviour that must be possible."""
    prohibited: list[Filled] = Field(default_factory=list)
    """Behaviour that must not occur."""
    signs: SignsSpec = Field(default_factory=SignsSpec)
    """Patterns that detect a release or a refusal without a model (`rule: packet`)."""
    use_case: str = ""
    """The real use that the scenario represents."""
    capabilities: str = ""
    """Key enabling capabilities of that use."""
    design: str = ""
    """Methods, data and measurements of the experiment."""
    instructions: dict[LevelName, str] = Field(default_factory=dict)
    """Instructions for testers, by level."""
    risks: list[Filled] = Field(default_factory=list)
    """Names of its risks."""
    topics: list[Filled] = Field(default_factory=list)
    """Names of its sensitive topics (`topics` of the study or pack)."""
    personas: list[Filled] = Field(default_factory=list)
    """Names of its persona groups; default: all."""
    scripts: dict[str, ScriptForm] = Field(default_factory=dict)
    """Fixed prompts, by key; without personas they are the only testers."""
    attacks: list[Filled] = Field(default_factory=list)
    """Strategies of simulated red teamers, e.g. `role_play`; default: those of `levels.red_teaming`."""
    aims: dict[str, Filled] = Field(default_factory=dict)
    """Prohibited content that red teamers request, by key; default: the `guardrail` scripts."""
    attacker: str = ""
    """Name of the model for strategies that need one (`paraphrase`, `translation`, `adaptive`)."""
    guidelines: list[Filled] = Field(default_factory=list)
    """Names of the guidelines for its dialogues; default: all."""
    questionnaires: dict[LevelName, OneOrMore] = Field(default_factory=dict)
    """Questionnaire or questionnaires after a session, by level; none for `model_testing`."""


RowsForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[list[dict[str, Word]], Tag(KIND + "list")],
    Discriminator(form_of),
]
"""A file of rows, or the rows themselves."""


class PersonaGroupSpec(Spec):
    """Who plays the user: a template and the rows that fill it."""

    template: Filled
    """Name of a template (`personas/<name>.md` or shipped), a file, or the text itself."""
    rows: RowsForm | None = None
    """CSV file with one persona per row, or the rows themselves."""
    model: Filled
    """Name of the model that plays them."""
    style: list[Filled] = Field(default_factory=list)
    """Sample lines by such people about other topics: the model copies their style, not their content."""
    language: str = ""
    """Language of their messages; may use the rows' columns, e.g. `{{ language }}`."""
    history: int | None = Field(default=None, ge=1)
    """Number of turns that they remember; default: all."""
