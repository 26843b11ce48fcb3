"""Endpoints of a run: applications under test with their guardrails, and language models."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from theodolite.domain.errors import require_counts, require_positive
from theodolite.domain.identity import version_of
from theodolite.domain.network import NetworkSettings, refuse_userinfo

Param: TypeAlias = str | int | float | bool | Mapping[str, object] | Sequence[object] | None
"""A further field of a request; None removes a default field."""


USUAL_REPLY = 500
"""Assumed number of tokens of a reply without a stated limit; count."""


_LONGEST = ("max_completion_tokens", "max_output_tokens", "max_tokens", "maxOutputTokens", "maxTokens")

_NESTED = ("generationConfig", "inferenceConfig")
"""Fields of `params` in which some formats state the length of a reply."""


class ModelKind(StrEnum):
    """Request format of a model endpoint."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    RESPONSES = "responses"
    """OpenAI's Responses."""
    GEMINI = "gemini"
    """Google's generateContent."""
    BEDROCK = "bedrock"
    """Amazon's Converse."""
    VERTEX = "vertex"
    """Models of Google and Anthropic on Vertex AI."""
    INSPECT = "inspect"
    """Through Inspect's model API: any provider that it knows, as `provider/name`."""


CLOUD_HOSTS = {
    ModelKind.BEDROCK: r"(?:[\w-]+\.)?bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.(?:vpce\.)?amazonaws\.com(?:\.cn)?",
    ModelKind.VERTEX: r"(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com|aiplatform\.[a-z]+\.rep\.googleapis\.com",
}
"""Host patterns to which cloud credentials of this machine may be sent."""

_OWN_MACHINE = r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/.*)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of a model.

    Attributes:
        input_usd: US dollars per million tokens read.
        output_usd: US dollars per million tokens written.
        as_of: Day of the price list, `YYYY-MM-DD`; empty if the study states it.
    """

    input_usd: float
    output_usd: float
    as_of: str = ""

    def cost_microusd(self, tokens_in: int, tokens_out: int) -> int:
        """Return the cost of some tokens in millionths of a US dollar, rounded up."""
        cost = self.input_usd * tokens_in + self.output_usd * tokens_out
        return math.ceil(round(cost, 6))  # 1.1 * 10 is 11.000000000000002, and 12 would be wrong


class CacheUse(StrEnum):
    """Which replies of a model are cached and reused."""

    NO = "no"
    YES = "yes"
    """All except those that it gives as an application under test."""
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint:
    """A language model at an address, or a script in its place.

    Attributes:
        name: Identifier within the study.
        url: Base address, up to and including `/v1`; empty for a script, or if Inspect knows it.
        model: Name of the model at the endpoint; `provider/name` for Inspect.
        key: Name of the environment variable that contains the key; never the key.
        key_header: Header for the key; empty for the default of its format.
        params: Further fields of every request, e.g. `{"temperature": 0}`; None removes a field.
        script: Fixed replies instead of a model's; always labelled as scripted.
        price: Its price; None if unknown.
        parallel: Maximum number of calls in flight; count. The actual number adapts
            to the endpoint, together with other models of the same account.
        timeout_s: Timeout of one attempt; seconds.
        deadline_s: Time limit for all attempts and the pauses between them; seconds.
        attempts: Maximum number of attempts of one call, not counting "too many requests"; count.
        kind: Its request format.
        rpm: Maximum number of requests per minute; count, None for no limit.
        tpm: Maximum number of tokens per minute; count, None for no limit.
        cache: Which of its replies are cached and reused.
        structured: Whether answer schemas are sent: None if the endpoint accepts them,
            True to fail if it does not, False for never.
        stream: Whether replies are streamed even without a listener.
        plugin: Name of the plugin's model provider that opens it; empty for none.
        network: Proxy and certificates of its calls; they do not affect replies.
    """

    name: str
    url: str = ""
    model: str = ""
    key: str = ""
    params: Mapping[str, Param] = field(default_factory=dict)
    script: tuple[str, ...] = ()
    price: Price | None = None
    parallel: int = 256
    timeout_s: float = 60.0
    deadline_s: float = 600.0
    attempts: int = 5
    kind: ModelKind = ModelKind.OPENAI
    rpm: int | None = None
    tpm: int | None = None
    cache: CacheUse = CacheUse.NO
    structured: bool | None = None
    stream: bool = False
    key_header: str = ""
    plugin: str = ""
    network: NetworkSettings = field(default_factory=NetworkSettings, compare=False)

    def __post_init__(self) -> None:
        """Reject limits under which no call is possible, and a password in the address."""
        refuse_userinfo(f"model `{self.name}`", self.url)
        require_counts(
            f"model `{self.name}`", parallel=self.parallel, attempts=self.attempts, rpm=self.rpm, tpm=self.tpm
        )
        require_positive(f"model `{self.name}`", timeout_s=self.timeout_s, deadline_s=self.deadline_s)

    @property
    def longest_reply(self) -> int:
        """Maximum length of a reply in tokens, from `params` or the default."""
        nested = [self.params.get(name) for name in _NESTED]
        fields = [self.params, *(one for one in nested if isinstance(one, Mapping))]
        limits = [one.get(name) for one in fields for name in _LONGEST]
        return next((limit for limit in limits if isinstance(limit, int)), USUAL_REPLY)

    @property
    def uses_cloud_credentials(self) -> bool:
        """Whether this machine's cloud credentials authorise its calls, because the study names no key."""
        return self.kind in CLOUD_HOSTS and not self.key and not self.is_scripted

    @property
    def is_scripted(self) -> bool:
        """Whether a script answers instead of a model."""
        return bool(self.script)

    @property
    def version(self) -> str:
        """Content hash of everything that affects its replies: not name, price, timeouts or limits."""
        return version_of(replace(self.deciding_part, name=""))

    @property
    def deciding_part(self) -> ModelEndpoint:
        """The model without key, price, timeouts and limits, which do not affect replies."""
        return ModelEndpoint(
            name=self.name,
            plugin=self.plugin,
            url=self.url,
            model=self.model,
            params=self.params,
            script=self.script,
            kind=self.kind,
            structured=self.structured,
        )


def cloud_host_problem(endpoint: ModelEndpoint) -> str:
    """Return the reason why credentials of this machine must not be sent to an endpoint; empty if they may."""
    pattern = rf"https://(?:{CLOUD_HOSTS.get(endpoint.kind, '')})(?::443)?(?:/.*)?"
    if not endpoint.uses_cloud_credentials or re.fullmatch(pattern, endpoint.url) or _is_own(endpoint.url):
        return ""
    return (
        f"`kind: {endpoint.kind.value}` without `key` sends the credentials of this machine, which go to the cloud's"
        " own hosts alone. Correct `url`, or name a variable with a token as `key`"
    )


def _is_own(url: str) -> bool:
    return re.fullmatch(_OWN_MACHINE, url) is not None


HTTP_SLOTS = ("prompt", "session", "turn", "context", "history")
"""Names that templates of an HTTP application's requests may use."""


ARIA_SLOTS = ("prompt", "context", "turn")
"""Names that the template of an ARIA class's prompts may use."""


class ClaimKind(StrEnum):
    """A team's description of its application."""

    CAPABILITY = "capability"
    LIMITATION = "limitation"


class GuardrailSite(StrEnum):
    """Location of an application's guardrails, as declared by its team."""

    NOT_DECLARED = "not declared"
    NONE = "none"
    IN_APPLICATION = "in the application"
    AT_SITE = "at the team's site"


class BodyFormat(StrEnum):
    """Encoding of request bodies to an HTTP application."""

    JSON = "json"
    FORM = "form"


class Isolation(StrEnum):
    """How many sessions share a process of an application's code."""

    APPLICATION = "application"
    SESSION = "session"


class Markup(StrEnum):
    """Format of an application's replies."""

    TEXT = "text"
    HTML = "html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Settings of the processes that run an application's code.

    Settings that do not affect replies are not part of the version; the interpreter and the
    distributions that are used are part of `CodeVersion`.

    Attributes:
        isolation: Whether all sessions share a process or each has its own.
        env: Names of the environment variables that the code sees in addition to the usual ones.
        network: Hosts that the code may connect to, with or without a port; None for any.
        python: Interpreter as named in the study; empty for the one that runs Theodolite.
        requirements: File of libraries for a separate environment; empty for none.
        memory_mb: Maximum memory of a process, in MB; 0 for no limit.
        cpu_s: Maximum CPU time of a process, in seconds; 0 for no limit.
        sessions: Maximum number of open sessions; count, 0 for no limit.
    """

    isolation: Isolation = Isolation.APPLICATION
    env: tuple[str, ...] = ()
    network: tuple[str, ...] | None = None
    python: str = field(default="", compare=False)
    requirements: str = field(default="", compare=False)
    memory_mb: int = field(default=0, compare=False)
    cpu_s: int = field(default=0, compare=False)
    sessions: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeVersion:
    """Everything that affects the behaviour of an application's code.

    Attributes:
        folder: The application's folder, relative to the study's; empty for the study's own.
        files: SHA-256 of each file of the application's folder, by path in it.
        interpreter: Implementation and version, e.g. `CPython 3.11.7`.
        distributions: Installed distributions, each as `name==version`.
    """

    folder: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    interpreter: str = ""
    distributions: tuple[str, ...] = ()

    def changes_to(self, later: CodeVersion) -> tuple[str, ...]:
        """Return the differences of a later version: files, interpreter, distributions; empty if equal."""
        names = sorted({*self.files, *later.files})
        files = [name for name in names if self.files.get(name) != later.files.get(name)]
        interpreter = [later.interpreter] if self.interpreter != later.interpreter else []
        distributions = sorted({*later.distributions} ^ {*self.distributions})
        return (*files, *interpreter, *distributions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A capability or limitation that a team claims, with its tests.

    Attributes:
        text: The claim as text.
        kind: Capability or limitation.
        scripts: Keys of the scripts that test it.
        rule: The defect rule for dialogues that contradict it: a rule, a
            guideline, or `guideline.rule`; empty if the study has one rule in all.
        untestable: Reason why no dialogue can test it; empty if one can.
    """

    text: str
    kind: ClaimKind
    scripts: tuple[str, ...] = ()
    rule: str = ""
    untestable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mitigation:
    """A guardrail or other measure that one variant of an application adds."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """Recorded replies, one turn per row.

    Attributes:
        file: Path as written in the study.
        sha256: Hash of the file's bytes, so that a changed file makes a new version of the application.
        columns: Column name of each role (`id`, `turn`, `prompt`, `response`, `withheld`).
        where: Values by column that identify the rows of this application.
    """

    file: str
    sha256: str
    columns: Mapping[str, str]
    where: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_released(self) -> bool:
        """Whether it replaces the connection of an application in a release, which leaves connections out."""
        return not (self.sha256 or self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedModel:
    """A model with a system prompt and, optionally, context files.

    Attributes:
        model: Name of the model in the study.
        system: System prompt; may contain `{{ context }}`, the scenario's source material.
        context: Texts of the context files by name.
    """

    model: str
    system: str = ""
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpEndpoint:
    """An HTTP endpoint that takes a prompt and returns a reply.

    Attributes:
        url: Address; a template.
        body: JSON document to send; its texts are templates over `prompt`,
            `session`, `turn`, `context` and `history`.
        body_as: Encoding: unchanged JSON, or the fields of a form.
        reply: Path of the reply: `$.a.b[0]`, or `text` for the whole body.
        reply_pattern: Regular expression over the body, instead of `reply`;
            its first group is the reply. Empty if a path is used.
        stream: Whether the response is an event stream whose events contain parts of the reply.
        session: Location of the site's own session id in its first response; empty
            if sessions have our ids.
        method: HTTP method.
        headers: Header name to template.
        key: Name of the environment variable that contains the token.
        key_header: Header for the bare token; empty for `Authorization: Bearer`.
        timeout_s: Timeout of one reply; seconds.
        public_only: Whether calls to private networks and this machine are blocked, for any address.
        parallel: Maximum number of calls in flight; count. It is not part of the version, as it affects no reply.
        network: Proxy and certificates of its calls; they do not affect replies.
    """

    url: str
    reply: str = "$.text"
    reply_pattern: str = ""
    stream: bool = False
    session: str = ""
    body: str = "{}"
    body_as: BodyFormat = BodyFormat.JSON
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    key_header: str = ""
    timeout_s: float = 60.0
    public_only: bool = False
    parallel: int = field(default=256, compare=False)
    network: NetworkSettings = field(default_factory=NetworkSettings, compare=False)

    def __post_init__(self) -> None:
        """Reject a password in the address, and a limit under which no call is possible."""
        refuse_userinfo("an HTTP endpoint", self.url)
        require_counts("an HTTP endpoint", parallel=self.parallel)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCallable:
    """A Python function, sync or async, from prompt (and history) to reply.

    Attributes:
        target: `module:function` or `file.py:function`.
        code: Everything that runs when it is called.
        runtime: Settings of its processes.
        markup: Format of its replies.
        timeout_s: Timeout of one reply; seconds.
        parallel: Maximum number of calls in flight; count. It is not part of the version, as it affects no reply.
    """

    target: str
    code: CodeVersion = field(default_factory=CodeVersion)
    runtime: Runtime = field(default_factory=Runtime)
    markup: Markup = Markup.TEXT
    timeout_s: float = 60.0
    parallel: int = field(default=16, compare=False)

    def __post_init__(self) -> None:
        """Reject a limit under which no call is possible."""
        require_counts("a Python function", parallel=self.parallel)


@dataclass(frozen=True, slots=True, kw_only=True)
class AriaClass:
    """A class written for NIST's dialogue interface.

    Attributes:
        target: `module:Class` or `file.py:Class`.
        code: Everything that runs when it is called.
        runtime: Settings of its processes.
        init: Arguments of its constructor, as a JSON object; texts in it are templates over `auth`.
        auth: Name of the environment variable that contains the credentials, a JSON
            object; if empty, `ARIA_AUTH_JSON` if that is set.
        prompt: Argument of `GetResponse`, a template over `prompt`, `context` and
            `turn`; empty for only the prompt.
        markup: Format of its replies.
        timeout_s: Timeout of one call; seconds.
        parallel: Maximum number of concurrent sessions; count. It does not affect replies,
            so it is not part of the version.
    """

    target: str
    code: CodeVersion = field(default_factory=CodeVersion)
    runtime: Runtime = field(default_factory=Runtime)
    init: str = "{}"
    auth: str = ""
    prompt: str = ""
    markup: Markup = Markup.TEXT
    timeout_s: float = 60.0
    parallel: int = field(default=16, compare=False)

    def __post_init__(self) -> None:
        """Reject a limit under which no call is possible."""
        require_counts("an ARIA class", parallel=self.parallel)

    @property
    def most_sessions(self) -> int:
        """Maximum number of open sessions; count, 0 for no limit.

        With one call at a time, a class is assumed to support only one session at a
        time, like a class with a single instance.
        """
        return self.runtime.sessions or (1 if self.parallel == 1 else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """A thing under test: a black box from text to text.

    Attributes:
        name: Name in the study.
        connection: Its connection.
        description: One-sentence description.
        claims: Its team's claims.
        mitigations: Mitigations added to the application that it is a variant of.
        guardrails: Place of its guardrails.
        variant_of: Name of the application that it is a variant of; empty for none.
        scenarios: Names of the scenarios that it is tested in; empty for all.
    """

    name: str
    connection: Connection
    description: str = ""
    claims: tuple[Claim, ...] = ()
    mitigations: tuple[Mitigation, ...] = ()
    guardrails: GuardrailSite = GuardrailSite.NOT_DECLARED
    variant_of: str = ""
    scenarios: tuple[str, ...] = ()

    @property
    def deciding_part(self) -> Application:
        """The application without descriptions: editing a claim does not change the application."""
        return replace(self, claims=(), description="", variant_of="", scenarios=())

    def is_tested_in(self, scenario: str) -> bool:
        """Return whether the application is tested in a scenario."""
        return not self.scenarios or scenario in self.scenarios


MOST_NAMED = 5
"""Number of changed files to name; further ones are counted."""


def code_differences(earlier: Iterable[Application], later: Iterable[Application]) -> dict[str, tuple[str, ...]]:
    """Return the names of applications with changed code to their changed files, `and 2 more` for those above five."""
    before = {application.name: _code_of(application) for application in earlier}
    result = {}
    for application in later:
        old, new = before.get(application.name), _code_of(application)
        changes = old.changes_to(new) if old is not None and new is not None and old.interpreter else ()
        more = (f"and {len(changes) - MOST_NAMED} more",) if len(changes) > MOST_NAMED else ()
        if changes:
            result[application.name] = (*changes[:MOST_NAMED], *more)
    return result


def _code_of(application: Application) -> CodeVersion | None:
    connection = application.connection
    return connection.code if isinstance(connection, PythonCallable | AriaClass) else None


Connection = RecordedFile | PromptedModel | HttpEndpoint | PythonCallable | AriaClass
"""Access to an application under test."""
