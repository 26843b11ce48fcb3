"""Hosts that a study calls, and the keys and code that receive credentials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from theodolite.domain.annotator import ModelJudge, PythonLabeller
from theodolite.domain.application import AriaClass, HttpEndpoint, PromptedModel, PythonCallable
from theodolite.domain.model import ModelEndpoint, ModelKind
from theodolite.domain.network import NetworkUse
from theodolite.domain.network_settings import NO_PROXY, NetworkSettings
from theodolite.domain.study import Study

OWN_HOSTS: dict[str, tuple[str, ...]] = {
    "ANTHROPIC_API_KEY": ("api.anthropic.com",),
    "CEREBRAS_API_KEY": ("api.cerebras.ai",),
    "COHERE_API_KEY": ("api.cohere.com", "api.cohere.ai"),
    "CO_API_KEY": ("api.cohere.com", "api.cohere.ai"),
    "DEEPSEEK_API_KEY": ("api.deepseek.com",),
    "FIREWORKS_API_KEY": ("api.fireworks.ai",),
    "GEMINI_API_KEY": ("generativelanguage.googleapis.com",),
    "GOOGLE_API_KEY": ("generativelanguage.googleapis.com",),
    "GROQ_API_KEY": ("api.groq.com",),
    "HF_TOKEN": ("router.huggingface.co",),
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "NVIDIA_API_KEY": ("integrate.api.nvidia.com",),
    "OPENAI_API_KEY": ("api.openai.com", "eu.api.openai.com", "us.api.openai.com"),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "PERPLEXITY_API_KEY": ("api.perplexity.ai",),
    "TOGETHER_API_KEY": ("api.together.xyz", "api.together.ai"),
    "XAI_API_KEY": ("api.x.ai",),
}
"""Documented variables of well-known providers, and the hosts at which those providers take their keys.

Names and hosts are compared whole. Hosts that any customer of a provider can register, such as
`RESOURCE.openai.azure.com`, are not listed: the author of a study may own one.
"""

_HTTPS_PORTS = (None, 443)

_OTHER_PROVIDERS = "openai-api"
"""Provider of Inspect's whose models are named with the service that takes them, e.g. `openai-api/groq/llama`."""

_INSPECTS = "the key that Inspect finds for "


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """One environment variable and one place that its value goes to.

    Attributes:
        variable: Name of the variable; in words where Inspect looks for it by itself.
        receiver: Host with its port where the address names one, or the code that sees the variable.
        users: Models and applications that send it there, e.g. `model gpt`.
        needs_permission: Whether the operator must allow it. The key of a well-known provider goes to that
            provider's own host without a question, and variables that code sees belong to the permission of the code.
    """

    variable: str
    receiver: str
    users: tuple[str, ...]
    needs_permission: bool

    def is_set(self, environ: Mapping[str, str]) -> bool:
        """Tell whether there may be a value to send."""
        return self.variable.startswith(_INSPECTS) or bool(environ.get(self.variable))

    @property
    def shown(self) -> str:
        """Variable and receiver, as messages, `check` and permissions name them."""
        return f"{self.variable} to {self.receiver}"


def named_keys(study: Study) -> tuple[KeyUse, ...]:
    """Return which environment variables a run of the study hands to which hosts and code, each pair once."""
    found: dict[tuple[str, str, bool], dict[str, None]] = {}
    for variable, receiver, needs_permission, user in (*_keys_of_models(study), *_keys_of_applications(study)):
        found.setdefault((variable, receiver, needs_permission), {})[user] = None
    return tuple(
        KeyUse(variable=variable, receiver=receiver, users=tuple(users), needs_permission=needed)
        for (variable, receiver, needed), users in found.items()
    )


def _keys_of_models(study: Study) -> Iterator[tuple[str, str, bool, str]]:
    for model in study.models:
        if model.kind is ModelKind.INSPECT:
            uses = _keys_through_inspect(model)
        elif model.key and model.url and not model.is_scripted:
            uses = (_use(model.key, model.url, model.network),)
        else:
            continue
        yield from ((*use, f"model {model.name}") for use in uses)


def _keys_through_inspect(model: ModelEndpoint) -> tuple[tuple[str, str, bool], ...]:
    """Return the key that Inspect sends: the named one, else the provider's own, which it finds by itself."""
    provider, _, rest = model.model.partition("/")
    service = rest.partition("/")[0] if provider == _OTHER_PROVIDERS else provider
    own = f"{service.upper().replace('-', '_')}_API_KEY"
    if model.url:
        is_known = is_own_host(model.key or own, model.url)
        return ((model.key or f"{_INSPECTS}{service}", host_shown(model.url), not is_known),)
    return ((model.key, f"{provider}, through Inspect", model.key != own),) if model.key else ()


def _keys_of_applications(study: Study) -> Iterator[tuple[str, str, bool, str]]:
    for application in study.applications:
        connection, user = application.connection, f"application {application.name}"
        if isinstance(connection, HttpEndpoint) and connection.key:
            yield (*_use(connection.key, connection.url, connection.network), user)
        elif isinstance(connection, PythonCallable | AriaClass):
            for variable in code_variables(connection):
                yield variable, f"the code {connection.target}", False, user


def _use(variable: str, url: str, network: NetworkSettings) -> tuple[str, str, bool]:
    """Return a key, its receiver, and whether it needs permission.

    An authority that only the study trusts can speak for every host, so that it takes part in the receiver.
    """
    through = f", through the proxy {host_shown(network.proxy)}" if network.proxy not in {"", NO_PROXY} else ""
    trusting = f", trusting {network.ca}" if network.ca else ""
    is_known = is_own_host(variable, url) and not network.ca
    return variable, f"{host_shown(url)}{through}{trusting}", not is_known


def code_variables(connection: PythonCallable | AriaClass) -> tuple[str, ...]:
    """Return the environment variables that a study lets the code of an application see."""
    auth = (connection.auth,) if isinstance(connection, AriaClass) and connection.auth else ()
    return tuple(dict.fromkeys([*auth, *connection.runtime.env]))


def is_own_host(variable: str, url: str) -> bool:
    """Tell whether the key of a well-known provider goes to a host of that provider, encrypted.

    Args:
        variable: Name of the environment variable.
        url: Where its value is sent.
    """
    parts = urlsplit(url.partition("{")[0])
    if parts.scheme != "https" or parts.port not in _HTTPS_PORTS:
        return False
    host = parts.hostname or ""
    return host in OWN_HOSTS.get(variable, ())


def host_shown(url: str) -> str:
    """Return the host of an address with its port, in the letters of the network: look-alike letters show.

    Example:
        >>> host_shown("https://\u0430pi.openai.com/v1")
        'xn--pi-6kc.openai.com'
    """
    parts = urlsplit(url.partition("{")[0])
    host = parts.hostname or ""
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        host = host.encode("ascii", "backslashreplace").decode("ascii")
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host


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
