"""Model endpoints: where a language model is reached, as a study writes it down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from theodolite.domain.errors import require_counts, require_positive
from theodolite.domain.identity import version_of
from theodolite.domain.network import NetworkSettings, refuse_userinfo

Param: TypeAlias = str | int | float | bool | Mapping[str, object] | Sequence[object] | None
"""One further field of a request; None takes a field out that would be sent otherwise."""

USUAL_REPLY = 500
"""Tokens of a reply where nobody says how long it can become; count."""

_LONGEST = ("max_completion_tokens", "max_tokens")


class ModelKind(StrEnum):
    """In which form a model endpoint wants to be asked."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    INSPECT = "inspect"
    """Through Inspect's model API: any provider that it knows, as `provider/name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs.

    Attributes:
        input_usd: US dollars for a million tokens read.
        output_usd: US dollars for a million tokens written.
        as_of: Day of the price list, `YYYY-MM-DD`; empty where the study states it.
    """

    input_usd: float
    output_usd: float
    as_of: str = ""

    def cost_microusd(self, tokens_in: int, tokens_out: int) -> int:
        """Return the cost of some tokens in millionths of a US dollar, rounded up."""
        cost = self.input_usd * tokens_in + self.output_usd * tokens_out
        return math.ceil(round(cost, 6))  # 1.1 * 10 is 11.000000000000002, and nobody pays 12 for it


class CacheUse(StrEnum):
    """Which replies of a model are kept in the cache and given again."""

    NO = "no"
    YES = "yes"
    """All but those that it gives as an application under test."""
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint:
    """A language model behind an address, or a script in its place.

    Attributes:
        name: Identifier within the study.
        url: Base address, up to and including `/v1`; empty for a script, and where Inspect knows it.
        model: Name that the endpoint knows the model by; `provider/name` for Inspect.
        key: Name of the environment variable that holds the key; never the key.
        key_header: Header that carries the key; empty for the one that its form is known for.
        params: Further fields of every request, e.g. `{"temperature": 0}`; None takes a field out.
        script: Replies given in turn instead of a model's; always labelled as scripted.
        price: What it costs; None where nobody said.
        parallel: Calls in flight at most; count. How many there really are is
            found by asking, together with other models of the same account.
        timeout_s: Patience for one attempt; seconds.
        deadline_s: Patience for all attempts and the pauses between them; seconds.
        attempts: Tries of one call at most, refusals for "too many requests" not counted; count.
        kind: In which form it wants to be asked.
        rpm: Requests begun in any minute at most; count, None for no limit.
        tpm: Tokens in any minute at most; count, None for no limit.
        cache: Which of its replies are kept and given again.
        structured: Whether answer schemas are sent: None for where the endpoint takes them,
            True for a failure where it does not, False for never.
        stream: Whether replies are asked for piece by piece even where nobody listens.
        network: Proxy and certificates of its calls; they decide no reply.
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
    network: NetworkSettings = field(default_factory=NetworkSettings, compare=False)

    def __post_init__(self) -> None:
        """Refuse limits under which no call could be made, and a password in the address."""
        refuse_userinfo(f"model `{self.name}`", self.url)
        require_counts(
            f"model `{self.name}`", parallel=self.parallel, attempts=self.attempts, rpm=self.rpm, tpm=self.tpm
        )
        require_positive(f"model `{self.name}`", timeout_s=self.timeout_s, deadline_s=self.deadline_s)

    @property
    def longest_reply(self) -> int:
        """Tokens of a reply at most, as `params` say it; what is usual where they say nothing."""
        limits = [self.params.get(name) for name in _LONGEST]
        return next((limit for limit in limits if isinstance(limit, int)), USUAL_REPLY)

    @property
    def is_scripted(self) -> bool:
        """Whether a script answers in place of a model."""
        return bool(self.script)

    @property
    def version(self) -> str:
        """Content hash of what decides its replies: not of name, price, patience or limits."""
        return version_of(replace(self.deciding_part, name=""))

    @property
    def deciding_part(self) -> ModelEndpoint:
        """The same without key, price, patience and limits, which decide no reply."""
        return ModelEndpoint(
            name=self.name,
            url=self.url,
            model=self.model,
            params=self.params,
            script=self.script,
            kind=self.kind,
            structured=self.structured,
        )
