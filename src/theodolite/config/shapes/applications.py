"""Shapes of applications under test."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.shapes.base import KIND, Filled, Shape, YesNo, form_of
from theodolite.config.shapes.connection import ConnectionShape
from theodolite.domain.application import BodyFormat, ClaimKind, GuardrailSite, Isolation, Markup


class ClaimShape(Shape):
    """Something that a team claims of its application."""

    text: Filled
    """The claim in words."""
    kind: ClaimKind = ClaimKind.CAPABILITY
    """`capability` or `limitation`."""
    scripts: list[Filled] = Field(default_factory=list)
    """Keys of the scripts that test it."""
    rule: str = ""
    """Defect rule by which a dialogue contradicts it: a rule, a guideline or `guideline.rule`."""
    untestable: str = ""
    """In place of scripts: why no dialogue can test it."""


Mitigations: TypeAlias = Annotated[
    Annotated[dict[str, str], Tag(KIND + "mapping")] | Annotated[list[Filled], Tag(KIND + "list")],
    Discriminator(form_of),
]


class ApplicationShape(Shape):
    """What every application can say of itself."""

    description: str = ""
    """What it is, in a sentence."""
    guardrails: GuardrailSite = GuardrailSite.NOT_DECLARED
    """Where its guardrails live: `not declared`, `none`, `in the application` or `at the team's site`."""
    claims: list[ClaimShape] = Field(default_factory=list)
    """What its team claims, and the scripts that test it."""
    mitigations: Mitigations | None = None
    """Declared guardrails and other measures: names, or names with a description."""
    scenarios: list[Filled] = Field(default_factory=list)
    """Names of the scenarios that it is tested in; all where left out."""
    variant_of: str = ""
    """Name of the application that it is a variant of; mitigations are then compared among its variants alone."""


class RecordedShape(ApplicationShape):
    """Replies that were recorded before; the keys name the file's columns."""

    kind: Literal["recorded"]
    """`recorded`: dialogues come from a file."""
    file: Filled
    """CSV, TSV or JSONL file, plain or `.gz`, in the study's folder."""
    id: str = ""
    """Column that identifies the item; row numbers where left out."""
    turn: str = ""
    """Column with the number of the turn, for dialogues of several rows."""
    prompt: Filled
    """Column with what the tester said."""
    response: Filled
    """Column with what the application said."""
    context: str = ""
    """Column with the source material that the response should rest on; a list holds several passages."""
    withheld: str = ""
    """Column that says why a row's texts are not there."""
    application: str = ""
    """Column that tells several applications of one file apart."""


class PromptedModelShape(ApplicationShape):
    """A model with a system prompt and, optionally, context files."""

    kind: Literal["model"]
    """`model`: a language model that the study names."""
    model: Filled
    """Name of the model under `models`."""
    system: str = ""
    """System prompt; `{{ context }}` is the scenario's source material."""
    context: list[Filled] = Field(default_factory=list)
    """Files whose texts are given to the model."""


class PatternShape(Shape):
    """A regular expression that finds the reply."""

    regex: Filled
    """Regular expression over the whole answer; its first group, or all of it, is the reply."""


ReplyPlace: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[PatternShape, Tag(KIND + "mapping")],
    Discriminator(form_of),
]


Network: TypeAlias = Annotated[
    Annotated[Literal["none"], Tag(KIND + "text")] | Annotated[list[Filled], Tag(KIND + "list")],
    Discriminator(form_of),
]
"""No host, or a list of hosts."""


class HttpShape(ApplicationShape):
    """An HTTP endpoint that takes a prompt and returns a reply."""

    kind: Literal["http"]
    """`http`: any HTTP endpoint."""
    url: Filled
    """Address; may hold `{{ prompt }}`, `{{ session }}`, `{{ turn }}`."""
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    """HTTP method."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Header name to value; may be templates."""
    body: Any = None
    """Body, sent as JSON; texts in it are templates over `prompt`, `session`, `turn`, `context`, `history`."""
    body_as: BodyFormat = BodyFormat.JSON
    """`json`, or `form` for a site that takes forms: `body` is then field to text, sent as `a=1&b=2`."""
    reply: ReplyPlace = "$.text"
    """Where the reply stands: `$.a.b[0]`, `text` for the whole body, or `{regex: "..."}` whose first group it is."""
    stream: YesNo = False
    """Whether the answer is a stream of events (SSE), each with a piece of the reply where `reply` says."""
    session: str = ""
    """Where the site's own session id stands in its first answer, e.g. `$.id`; `{{ session }}` is empty until then."""
    key: str = ""
    """Name of the environment variable that holds the token."""
    key_header: str = ""
    """Header in which the token stands alone, e.g. `X-Api-Key`; `Authorization: Bearer` where left out."""
    timeout: float = Field(default=60.0, gt=0)
    """Patience for one reply; seconds."""
    public_only: YesNo = False
    """Whether private networks and this machine are not called, whatever the address leads to."""
    connection: ConnectionShape | None = None
    """Proxy and certificates of its calls, in place of those of the study."""
    parallel: int = Field(default=256, ge=1)
    """Calls in flight at most; how many the host bears is found out below that."""


class CodeShape(ApplicationShape):
    """How the processes that run an application's code are set up."""

    isolation: Isolation = Isolation.APPLICATION
    """`application`: one process for all sessions; `session`: one for each, e.g. for classes with one instance."""
    python: str = ""
    """Interpreter or virtual environment that runs the code; the one that runs Theodolite where left out."""
    requirements: str = ""
    """File of libraries (`requirements.txt`); Theodolite installs them into an environment made for their content."""
    env: list[Filled] = Field(default_factory=list)
    """Names of environment variables that the code sees beside the usual ones such as `PATH` and `HOME`."""
    network: Network | None = None
    """Hosts that the code may connect to, e.g. `[models.example, "127.0.0.1:8000"]`; `none` for no host."""
    memory_mb: int = Field(default=0, ge=0)
    """Most memory of a process in MB, where the system limits it; 0 for any."""
    cpu_seconds: int = Field(default=0, ge=0)
    """Most CPU time of a process in seconds, where the system limits it; 0 for any."""
    sessions: int = Field(default=0, ge=0)
    """Most sessions that are open at one time; 0 for any. `parallel: 1` means one for a class."""
    ignore: list[Filled] = Field(default_factory=list)
    """Patterns of files in the application's folder that do not belong to its version, e.g. `["cache/*", "*.db"]`."""
    markup: Markup = Markup.TEXT
    """`html` where replies come as HTML: they are turned into text."""


class PythonShape(CodeShape):
    """A Python function from prompt to reply."""

    kind: Literal["python"]
    """`python`: a function, sync or async."""
    call: Filled
    """`module:function` or `file.py:function`."""
    timeout: float = Field(default=60.0, gt=0)
    """Patience for one reply; seconds."""
    parallel: int = Field(default=16, ge=1)
    """Calls in flight at most, each on a thread of its own."""


class AriaShape(CodeShape):
    """A class written for NIST's dialogue interface."""

    kind: Literal["aria"]
    """`aria`: a class with ARIA's dialogue interface."""
    target: Filled = Field(alias="class")
    """`module:Class` or `file.py:Class`."""
    init: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the constructor; `{{ auth.NAME }}` is a credential."""
    auth: str = ""
    """Name of the environment variable with the credentials as a JSON object; `ARIA_AUTH_JSON` if that is set."""
    prompt: str = ""
    """What `GetResponse` is given, a template over `prompt`, `context` and `turn`; the prompt alone where left out."""
    timeout: float = Field(default=60.0, gt=0)
    """Patience for one call; seconds."""
    parallel: int = Field(default=16, ge=1)
    """Sessions that are called at one time at most, each on a thread of its own."""


def _kind_of(value: Any) -> str:
    kind = value.get("kind", "") if isinstance(value, dict) else getattr(value, "kind", "")
    return f"{KIND}{kind}"


AnyApplication: TypeAlias = Annotated[
    Annotated[RecordedShape, Tag(KIND + "recorded")]
    | Annotated[PromptedModelShape, Tag(KIND + "model")]
    | Annotated[HttpShape, Tag(KIND + "http")]
    | Annotated[PythonShape, Tag(KIND + "python")]
    | Annotated[AriaShape, Tag(KIND + "aria")],
    Discriminator(_kind_of),
]
"""One application of any kind."""

KINDS = ("recorded", "model", "http", "python", "aria")
"""Kinds of application, in the order in which messages name them."""
