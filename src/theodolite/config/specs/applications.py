"""Specs of applications under test."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.specs.base import KIND, Filled, Spec, YesNo, form_of
from theodolite.config.specs.connection import ConnectionSpec
from theodolite.domain.application import BodyFormat, ClaimKind, GuardrailSite, Isolation, Markup


class ClaimSpec(Spec):
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


class ApplicationSpec(Spec):
    """What every application can say of itself."""

    description: str = ""
    """Description in one sentence."""
    guardrails: GuardrailSite = GuardrailSite.NOT_DECLARED
    """Location of its guardrails: `not declared`, `none`, `in the application` or `at the team's site`."""
    claims: list[ClaimSpec] = Field(default_factory=list)
    """Claims of its team, with the scripts that test them."""
    mitigations: Mitigations | None = None
    """Declared guardrails and other measures: names, or names with a description."""
    scenarios: list[Filled] = Field(default_factory=list)
    """Names of its scenarios; default: all."""
    variant_of: str = ""
    """Name of the base application; mitigations are then compared only among its variants."""


class RecordedSpec(ApplicationSpec):
    """Replies that were recorded before; the keys name the file's columns."""

    kind: Literal["recorded"]
    """`recorded`: dialogues come from a file."""
    file: Filled
    """CSV, TSV or JSONL file, plain or `.gz`, in the study's folder."""
    id: str = ""
    """Column that identifies the item; default: row numbers."""
    turn: str = ""
    """Column with the number of the turn, for dialogues of several rows."""
    prompt: Filled
    """Column with the prompt."""
    response: Filled
    """Column with the response."""
    context: str = ""
    """Column with the source material of the response; a list contains several passages."""
    withheld: str = ""
    """Column with the reason why a row's texts are withheld."""
    application: str = ""
    """Column with the application, for files with several applications."""


class PromptedModelSpec(ApplicationSpec):
    """A model with a system prompt and, optionally, context files."""

    kind: Literal["model"]
    """`model`: a language model of the study."""
    model: Filled
    """Name of the model under `models`."""
    system: str = ""
    """System prompt; `{{ context }}` is the scenario's source material."""
    context: list[Filled] = Field(default_factory=list)
    """Files with source material for the model."""


class PatternSpec(Spec):
    """A regular expression that finds the reply."""

    regex: Filled
    """Regular expression over the whole answer; its first group, or all of it, is the reply."""


ReplyPlace: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[PatternSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]


Network: TypeAlias = Annotated[
    Annotated[Literal["none"], Tag(KIND + "text")] | Annotated[list[Filled], Tag(KIND + "list")],
    Discriminator(form_of),
]
"""No host, or a list of hosts."""


class HttpSpec(ApplicationSpec):
    """An HTTP endpoint that takes a prompt and returns a reply."""

    kind: Literal["http"]
    """`http`: any HTTP endpoint."""
    url: Filled
    """Address; may contain `{{ prompt }}`, `{{ session }}`, `{{ turn }}`."""
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    """HTTP method."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Headers by name; the values may be templates."""
    body: Any = None
    """JSON body; its texts are templates with the variables `prompt`, `session`, `turn`, `context`, `history`."""
    body_as: BodyFormat = BodyFormat.JSON
    """`json`, or `form` for form data: `body` is then a mapping of fields to texts, sent as `a=1&b=2`."""
    reply: ReplyPlace = "$.text"
    """Location of the reply: `$.a.b[0]`, `text` for the whole body, or `{regex: "..."}` with the reply as first
    group."""
    stream: YesNo = False
    """Whether the answer is a stream of events (SSE), each with a part of the reply at `reply`."""
    session: str = ""
    """Location of the endpoint's session id in its first answer, e.g. `$.id`; `{{ session }}` is empty until then."""
    key: str = ""
    """Name of the environment variable with the token."""
    key_header: str = ""
    """Header with only the token, e.g. `X-Api-Key`; default: `Authorization: Bearer`."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one reply; seconds."""
    public_only: YesNo = False
    """Whether calls to private networks and this machine are blocked, regardless of the address."""
    connection: ConnectionSpec | None = None
    """Proxy and certificates of its calls; replaces the study's `connection`."""
    parallel: int = Field(default=256, ge=1)
    """Maximum number of concurrent calls; the actual number adapts to the host."""


class CodeSpec(ApplicationSpec):
    """How the processes that run an application's code are set up."""

    isolation: Isolation = Isolation.APPLICATION
    """`application`: one process for all sessions; `session`: one for each, e.g. for classes with one instance."""
    python: str = ""
    """Interpreter or virtual environment for the code; default: the one that runs Theodolite."""
    requirements: str = ""
    """File of libraries (`requirements.txt`); Theodolite installs them into a separate environment."""
    env: list[Filled] = Field(default_factory=list)
    """Names of further environment variables for the code, in addition to `PATH`, `HOME` etc."""
    network: Network | None = None
    """Hosts that the code may connect to, e.g. `[models.example, "127.0.0.1:8000"]`; `none` for no host."""
    memory_mb: int = Field(default=0, ge=0)
    """Maximum memory of a process in MB, if the system supports limits; 0 for no limit."""
    cpu_seconds: int = Field(default=0, ge=0)
    """Maximum CPU time of a process in seconds, if the system supports limits; 0 for no limit."""
    sessions: int = Field(default=0, ge=0)
    """Maximum number of open sessions; 0 for no limit. For a class, `parallel: 1` means one."""
    ignore: list[Filled] = Field(default_factory=list)
    """Patterns of files in the application's folder to exclude from its version, e.g. `["cache/*", "*.db"]`."""
    markup: Markup = Markup.TEXT
    """`html` converts HTML replies to text."""


class PythonSpec(CodeSpec):
    """A Python function from prompt to reply."""

    kind: Literal["python"]
    """`python`: a function, sync or async."""
    call: Filled
    """`module:function` or `file.py:function`."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one reply; seconds."""
    parallel: int = Field(default=16, ge=1)
    """Maximum number of concurrent calls, each on its own thread."""


class AriaSpec(CodeSpec):
    """A class written for NIST's dialogue interface."""

    kind: Literal["aria"]
    """`aria`: a class with ARIA's dialogue interface."""
    target: Filled = Field(alias="class")
    """`module:Class` or `file.py:Class`."""
    init: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the constructor; `{{ auth.NAME }}` inserts a credential."""
    auth: str = ""
    """Name of the environment variable with the credentials as a JSON object; `ARIA_AUTH_JSON` if that is set."""
    prompt: str = ""
    """Argument of `GetResponse`, a template with `prompt`, `context` and `turn`; default: only the prompt."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one call; seconds."""
    parallel: int = Field(default=16, ge=1)
    """Maximum number of concurrent sessions, each on its own thread."""


def _kind_of(value: Any) -> str:
    kind = value.get("kind", "") if isinstance(value, dict) else getattr(value, "kind", "")
    return f"{KIND}{kind}"


AnyApplication: TypeAlias = Annotated[
    Annotated[RecordedSpec, Tag(KIND + "recorded")]
    | Annotated[PromptedModelSpec, Tag(KIND + "model")]
    | Annotated[HttpSpec, Tag(KIND + "http")]
    | Annotated[PythonSpec, Tag(KIND + "python")]
    | Annotated[AriaSpec, Tag(KIND + "aria")],
    Discriminator(_kind_of),
]
"""One application of any kind."""

KINDS = ("recorded", "model", "http", "python", "aria")
"""Kinds of application, in the order in which messages name them."""
