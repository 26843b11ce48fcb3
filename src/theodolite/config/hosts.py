"""Hosts: where a study's calls go, and which of its code may call others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from theodolite.domain.annotator import ModelJudge, PythonLabeller
from theodolite.domain.application import AriaClass, HttpEndpoint, PromptedModel, PythonCallable
from theodolite.domain.model import ModelEndpoint, ModelKind
from theodolite.domain.network import NetworkUse
from theodolite.domain.network_settings import NO_PROXY, NetworkSettings
from theodolite.domain.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One host and what it is called for.

    Attributes:
        name: Host, with the port where the address names one.
        roles: `application`, `simulated user`, `judge`, `proxy`.
    """

    name: str
    roles: tuple[str, ...]


def hosts(study: Study) -> tuple[Host, ...]:
    """Return the hosts that a run of the study calls, applications first."""
    roles: dict[str, dict[str, None]] = {}
    for name, role in _calls(study):
        if name:
            roles.setdefault(name, {})[role] = None
    return tuple(Host(name=name, roles=tuple(named)) for name, named in roles.items())


def code_hosts(study: Study) -> tuple[str, ...]:
    """Return what is known of the hosts of a study's own code, which nobody has analysed: one text for each."""
    found = []
    for application in study.applications:
        connection = application.connection
        if isinstance(connection, PythonCallable | AriaClass):
            allowed = connection.runtime.network
            rule = NetworkUse(application=application.name, allowed=allowed).rule
            found.append(f"`{application.name}` ({connection.target}): {rule}, runs as its own process")
    return (*found, *judge_code(study))


def judge_code(study: Study) -> tuple[str, ...]:
    """Return what is known of the hosts of functions that label: one text for each."""
    labellings = ((annotator.name, annotator.labelling) for annotator in study.annotators)
    return tuple(
        f"judge `{name}` ({labelling.target}): unknown, runs as its own process"
        for name, labelling in labellings
        if isinstance(labelling, PythonLabeller)
    )


def hosts_of(study: Study) -> tuple[str, ...]:
    """Return the names of the hosts that a run of the study calls."""
    return tuple(host.name for host in hosts(study))


def _calls(study: Study) -> Iterator[tuple[str, str]]:
    hosts_by_model = {model.name: _host_of(model) for model in study.models}
    yield from ((_netloc(settings.proxy), "proxy") for settings in _networks(study) if settings.proxy != NO_PROXY)
    for application in study.applications:
        connection = application.connection
        if isinstance(connection, HttpEndpoint):
            yield _netloc(connection.url), "application"
        elif isinstance(connection, PromptedModel):
            yield hosts_by_model.get(connection.model, ""), "application"
    players = [group.model for group in study.personas] + [scenario.attacker for scenario in study.scenarios]
    for model in players:
        yield hosts_by_model.get(model, ""), "simulated user"
    for annotator in study.annotators:
        if isinstance(annotator.labelling, ModelJudge):
            yield hosts_by_model.get(annotator.labelling.model, ""), "judge"


def _networks(study: Study) -> Iterator[NetworkSettings]:
    """Yield how calls of the study leave this machine."""
    yield from (model.network for model in study.models)
    for application in study.applications:
        if isinstance(application.connection, HttpEndpoint):
            yield application.connection.network


def _host_of(model: ModelEndpoint) -> str:
    """Return the host of a model; where Inspect chooses the address, its provider stands for it."""
    if model.kind is ModelKind.INSPECT and not model.url:
        return f"{model.model.partition('/')[0]}, through Inspect"
    return _netloc(model.url)


def _netloc(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
