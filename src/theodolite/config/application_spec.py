"""Keys that all kinds of applications share, and checks of their templates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import Discriminator, Field, Tag

from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.spec import KIND, Filled, Spec, form_of, without_empty
from theodolite.config.templates import place_of, syntax_problem, unfilled
from theodolite.domain.application import (
    Application,
    Claim,
    ClaimKind,
    Connection,
    GuardrailSite,
    Mitigation,
)
from theodolite.domain.fault import did_you_mean


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


A = TypeVar("A", bound=ApplicationSpec)


def named(entry: Entry[A], name: str, connection: Connection) -> Application:
    """Return an application with what every application says of itself."""
    spec = entry.spec
    declared = spec.mitigations or {}
    pairs = declared.items() if isinstance(declared, dict) else ((item, "") for item in declared)
    return Application(
        name=name,
        connection=connection,
        description=spec.description,
        claims=tuple(
            Claim(
                text=claim.text,
                kind=claim.kind,
                scripts=tuple(claim.scripts),
                rule=claim.rule,
                untestable=claim.untestable,
            )
            for claim in spec.claims
        ),
        mitigations=tuple(Mitigation(name=key, description=words) for key, words in pairs),
        guardrails=spec.guardrails,
        variant_of=spec.variant_of,
        scenarios=tuple(spec.scenarios),
    )


def check_template(
    entry: Entry[Any], keys: tuple[str | int, ...], text: str, known: tuple[str, ...], context: LoadContext
) -> None:
    """Report a template that has wrong syntax or a variable without a value."""
    problem = syntax_problem(text)
    if problem:
        context.diagnostics.add(entry.fault(*keys, message=problem))
    for variable in unfilled(text, known):
        tail = did_you_mean(variable, known) or f"; known here: {', '.join(known)}"
        message = f"{{{{ {variable} }}}} is filled by nothing{tail}"
        context.diagnostics.add(entry.fault(*keys, message=message, words=place_of(variable, text)))


Keys = tuple[str | int, ...]
"""Where a value stands, below its entry."""


def texts_in(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Yield the texts of a body with the keys that lead to each."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from texts_in(member, (*keys, key))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from texts_in(member, (*keys, place))
    elif isinstance(value, str):
        yield keys, value


def shared_from_domain(application: Application) -> dict[str, Any]:
    """Return the keys that all kinds of applications share."""
    claims = [
        without_empty(
            text=item.text, kind=item.kind.value, scripts=list(item.scripts), rule=item.rule, untestable=item.untestable
        )
        for item in application.claims
    ]
    return without_empty(
        description=application.description,
        guardrails=application.guardrails.value,
        claims=claims,
        mitigations={item.name: item.description for item in application.mitigations},
        variant_of=application.variant_of,
        scenarios=list(application.scenarios),
    )
