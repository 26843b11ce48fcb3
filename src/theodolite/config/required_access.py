"""Access that a study needs: hosts that it calls, keys that it sends, code that it runs."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import decode_source, find_spec
from pathlib import Path
from urllib.parse import urlsplit

from theodolite.aria import BASE_MODULE
from theodolite.config.permissions import StudyPaths
from theodolite.domain.annotator import ModelJudge, PythonLabeller
from theodolite.domain.application import (
    AriaClass,
    HttpEndpoint,
    ModelEndpoint,
    ModelKind,
    PromptedModel,
    PythonCallable,
)
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.network import NO_PROXY, NetworkSettings, NetworkUse
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
"""Documented variables of well-known providers, and the hosts that accept their keys.

Names and hosts must match completely. Hosts that any customer of a provider can register, such as
`RESOURCE.openai.azure.com`, are not listed: the author of a study may own one.
"""

_HTTPS_PORTS = (None, 443)

_OTHER_PROVIDERS = "openai-api"
"""Inspect's provider for models with the name of their service, e.g. `openai-api/groq/llama`."""

_INSPECTS = "the key that Inspect finds for "

_MACHINES = "the credentials of this machine for "

_CLOUDS = {ModelKind.BEDROCK: "AWS", ModelKind.VERTEX: "Google Cloud"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """An environment variable and a receiver of its value.

    Attributes:
        variable: Name of the variable; a description if Inspect finds it by itself.
        receiver: Host (with its port if the address names one), or the code that sees the variable.
        users: Models and applications that send it there, e.g. `model gpt`.
        needs_permission: Whether the operator must allow it. The key of a well-known provider goes to that
            provider's own host without a question, and variables visible to code belong to the permission of the code.
    """

    variable: str
    receiver: str
    users: tuple[str, ...]
    needs_permission: bool

    def is_set(self, environ: Mapping[str, str]) -> bool:
        """Return whether the variable may have a value."""
        return self.variable.startswith((_INSPECTS, _MACHINES)) or bool(environ.get(self.variable))

    @property
    def shown(self) -> str:
        """Variable and receiver, as named in messages, `check` and permissions."""
        return f"{self.variable} to {self.receiver}"


def named_keys(study: Study) -> tuple[KeyUse, ...]:
    """Return which environment variables a run of the study sends to which hosts and code, each pair once."""
    result: dict[tuple[str, str, bool], dict[str, None]] = {}
    for variable, receiver, needs_permission, user in (*_keys_of_models(study), *_keys_of_applications(study)):
        result.setdefault((variable, receiver, needs_permission), {})[user] = None
    return tuple(
        KeyUse(variable=variable, receiver=receiver, users=tuple(users), needs_permission=needed)
        for (variable, receiver, needed), users in result.items()
    )


def _keys_of_models(study: Study) -> Iterator[tuple[str, str, bool, str]]:
    for model in study.models:
        if model.plugin:
            uses: tuple[tuple[str, str, bool], ...] = (
                ((model.key, f"the model provider {model.plugin}", True),) if model.key else ()
            )
        elif model.kind is ModelKind.INSPECT:
            uses = _keys_through_inspect(model)
        elif model.uses_cloud_credentials:
            is_cloud = model.url.startswith("https://")
            uses = ((f"{_MACHINES}{_CLOUDS[model.kind]}", host_shown(model.url), not is_cloud),)
        elif model.key and model.url and not model.is_scripted:
            uses = (_use(model.key, model.url, model.network),)
        else:
            continue
        yield from ((*use, f"model {model.name}") for use in uses)


def _keys_through_inspect(model: ModelEndpoint) -> tuple[tuple[str, str, bool], ...]:
    """Return the key that Inspect sends: the named key, else the provider's own key, which Inspect finds by itself."""
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

    An authority that only the study trusts can impersonate every host, so it is part of the receiver.
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
    """Return whether the key of a well-known provider goes to a host of that provider over an encrypted connection.

    Args:
        variable: Name of the environment variable.
        url: Address that receives its value.
    """
    parts = urlsplit(url.partition("{")[0])
    if parts.scheme != "https" or parts.port not in _HTTPS_PORTS:
        return False
    host = parts.hostname or ""
    return host in OWN_HOSTS.get(variable, ())


def host_shown(url: str) -> str:
    """Return the host of an address with its port, in ASCII form, which exposes look-alike letters.

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
    """A host and its purposes.

    Attributes:
        name: Host, with the port if the address names one.
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
    """Return what is known about the hosts of a study's own code, which is not analysed: one text for each."""
    result = []
    for application in study.applications:
        connection = application.connection
        if isinstance(connection, PythonCallable | AriaClass):
            allowed = connection.runtime.network
            rule = NetworkUse(application=application.name, allowed=allowed).rule
            result.append(f"`{application.name}` ({connection.target}): {rule}, runs as its own process")
    return (*result, *judge_code(study))


def judge_code(study: Study) -> tuple[str, ...]:
    """Return what is known about the hosts of labelling functions: one text for each."""
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
    yield from ((netloc_of(settings.proxy), "proxy") for settings in _networks(study) if settings.proxy != NO_PROXY)
    for application in study.applications:
        connection = application.connection
        if isinstance(connection, HttpEndpoint):
            yield netloc_of(connection.url), "application"
        elif isinstance(connection, PromptedModel):
            yield hosts_by_model.get(connection.model, ""), "application"
    players = [group.model for group in study.personas] + [scenario.attacker for scenario in study.scenarios]
    for model in players:
        yield hosts_by_model.get(model, ""), "simulated user"
    for annotator in study.annotators:
        if isinstance(annotator.labelling, ModelJudge):
            yield hosts_by_model.get(annotator.labelling.model, ""), "judge"


def _networks(study: Study) -> Iterator[NetworkSettings]:
    """Yield the calls of a study to other machines."""
    yield from (model.network for model in study.models)
    for application in study.applications:
        if isinstance(application.connection, HttpEndpoint):
            yield application.connection.network


def _host_of(model: ModelEndpoint) -> str:
    """Return the host of a model; if Inspect chooses the address, the name of its provider."""
    if model.plugin:
        return f"unknown, through the plugin part {model.plugin}"
    if model.kind is ModelKind.INSPECT and not model.url:
        return f"{model.model.partition('/')[0]}, through Inspect"
    return netloc_of(model.url)


def netloc_of(url: str) -> str:
    """Return the host of an address with its port, as the list of called hosts names it."""
    return urlsplit(url).netloc.rpartition("@")[2]


_OWN_PACKAGE = "theodolite"

_IMPORTABLE = frozenset({".py", ".pyc", ".pyd", ".so", ".pth", ".zip", ".egg"})

_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCode:
    """A function or class that a study names.

    Attributes:
        target: `file.py:function`, `module:function`, or the same of a class.
        users: Applications and judges that run it, e.g. `application bot`.
        programs: Interpreters that run it and files of libraries installed for it; empty for the defaults.
        variables: Environment variables that it sees in addition to the usual ones.
    """

    target: str
    users: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The name, with the other code that it runs and the data that it gets."""
        sees = f", which sees {' and '.join(self.variables)}" if self.variables else ""
        return " with ".join([self.target, *self.programs]) + sees


def named_code(study: Study) -> tuple[NamedCode, ...]:
    """Return the functions and classes that a run of the study calls, except those of this package.

    A part of this package is included if the study names its interpreter or libraries to install.
    """
    users: dict[NamedCode, list[str]] = {}
    for code, user in _named(study):
        if code.programs or code.target.partition(":")[0].partition(".")[0] != _OWN_PACKAGE:
            users.setdefault(code, []).append(user)
    return tuple(replace(code, users=tuple(named)) for code, named in users.items())


def _named(study: Study) -> Iterator[tuple[NamedCode, str]]:
    for application in study.applications:
        connection = application.connection
        if isinstance(connection, PythonCallable | AriaClass):
            programs = tuple(filter(None, (connection.runtime.python, connection.runtime.requirements)))
            code = NamedCode(target=connection.target, programs=programs, variables=code_variables(connection))
            yield code, f"application {application.name}"
    for annotator in study.annotators:
        if isinstance(annotator.labelling, PythonLabeller):
            yield NamedCode(target=annotator.labelling.target), f"judge {annotator.name}"


def code_hash_of(study: Study, folder: Path) -> str:
    """Return the hash of the code that a study names and of every file of its folder that Python can import.

    Args:
        study: The study.
        folder: Its folder.
    """
    seen = hashlib.sha256()
    for code in named_code(study):
        seen.update(code.shown.encode() + b"\0")
    for file in _code_files(study, folder):
        seen.update(str(file).encode() + b"\0" + hashlib.sha256((folder / file).read_bytes()).digest())
    return seen.hexdigest()


def _code_files(study: Study, folder: Path) -> list[Path]:
    """Return the paths of code below the folder and of named files outside of it, sorted; no virtual environments."""
    named = [Path(code.target.rpartition(":")[0]) for code in named_code(study)]
    files = {file for file in named if file.suffix == ".py" and (folder / file).is_file()}
    programs = (Path(program) for code in named_code(study) for program in code.programs)
    files |= {program for program in programs if _lies_in(folder / program, folder)}  # others are part of the system
    for parent, folders, names in os.walk(folder):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _PASSED_OVER]
        paths = (Path(parent) / name for name in names)
        files |= {path.relative_to(folder) for path in paths if path.suffix in _IMPORTABLE and path.is_file()}
    return sorted(files)


def _lies_in(file: Path, folder: Path) -> bool:
    return file.is_file() and file.resolve().is_relative_to(folder.resolve())


def foreign_module(target: str, paths: StudyPaths) -> str:
    """Return the reason why a study may not name a function of a module; empty if it may.

    Args:
        target: `module:function` or `module:Class`.
        paths: Finds files of the study.
    """
    first = target.partition(":")[0].partition(".")[0]
    if first in sys.stdlib_module_names or first in sys.builtin_module_names:
        return (
            f"`{target}` belongs to Python's standard library, which holds no application;"
            f" name a file of yours, e.g. `{first}_app.py:answer`"
        )
    spec = PathFinder.find_spec(first, [str(paths.folder.resolve())])
    if spec is None:
        return ""
    locations = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    refusals = (paths.refusal_of(Path(location), shown=f"module {first}") for location in locations)
    return next((refusal.message for refusal in refusals if refusal is not None), "")


_REMEDY = "install it where theodolite is installed, or put it beside the study"

_CUNNING = frozenset({"__getattr__", "exec", "eval", "globals", "vars", "locals", "setattr", "__path__", "modules"})
"""Names that create other names or find modules elsewhere, so that a module's content is unknown."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """Reason why a function or class cannot be imported.

    Attributes:
        words: The error, and the remedy.
        severity: A note if another machine may have the missing part, e.g. a key.
    """

    words: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class _Source:
    """A parsed Python file.

    Attributes:
        file: Its name, without folders.
        tree: Content of the tree.
        names: Names that it defines, as far as its text shows.
        is_open: Whether it may define further names.
    """

    file: str
    tree: ast.Module
    names: frozenset[str]
    is_open: bool


def code_problem(target: str, *, folder: Path, form: str) -> CodeProblem | None:
    """Return the reason why a function or class cannot be imported; None if it can, or if that is unknown.

    Args:
        target: `module:Name` or `file.py:Name`, well-formed; a file exists.
        folder: The study folder, which is searched first for modules.
        form: `Class` if only a class is valid.
    """
    module, _, name = target.rpartition(":")
    answers = BASE_MODULE if form == "Class" else ""  # for classes that do not ship it
    if module == answers:
        return None
    file = folder / module if module.endswith(".py") else _file_of(module, folder)
    source = _read(file) if isinstance(file, Path) else file
    if not isinstance(source, _Source):
        return source
    home = folder / Path(module).parent if module.endswith(".py") else folder
    return _lost_import(source, home, answers) or _lost_name(source, module, name, form)


def _file_of(module: str, folder: Path) -> Path | CodeProblem | None:
    """Return the file of a module, or the message about a missing one; None if it has no Python file."""
    first, *inner = module.split(".")
    spec, named = _spec(first, folder), first
    for part in inner:
        if spec is None or _is_cunning(spec):
            break
        named, locations = f"{named}.{part}", list(spec.submodule_search_locations or ())
        spec = PathFinder.find_spec(named, locations) if locations else None
    if spec is None:
        siblings = [path.stem for path in folder.glob("*.py")] if named == first else []
        tail = did_you_mean(named, siblings) or f"; {_REMEDY}"
        return CodeProblem(f"module `{named}` cannot be imported: there is none of this name here{tail}", Severity.NOTE)
    return Path(spec.origin) if named == module and spec.origin and spec.origin.endswith(".py") else None


def _spec(name: str, folder: Path) -> ModuleSpec | None:
    """Return the source of a top-level module; None if there is none."""
    try:
        return PathFinder.find_spec(name, [str(folder)]) or find_spec(name)
    except Exception:  # noqa: BLE001 - a third-party finder may raise anything
        return ModuleSpec(name, None)


def _is_cunning(package: ModuleSpec) -> bool:
    """Return whether a package may have modules outside its folder."""
    source = _read(Path(package.origin)) if package.origin and package.origin.endswith(".py") else None
    if source is None:  # an extension, or a folder without its own file
        return not package.submodule_search_locations
    return isinstance(source, _Source) and source.is_open


def _read(file: Path) -> _Source | CodeProblem:
    """Return a Python file parsed without running it, or the reason why it cannot be parsed."""
    import symtable  # loads late: only `check` reads code

    try:
        with warnings.catch_warnings(action="ignore"):
            text = decode_source(file.read_bytes())
            compile(text, file.name, "exec", dont_inherit=True)  # finds more than the two after it
            tree, table = ast.parse(text, file.name), symtable.symtable(text, file.name, "exec")
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        return CodeProblem(f"`{file.name}` cannot be imported: {type(error).__name__}: {error.msg} ({file.name}{line})")
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return CodeProblem(f"`{file.name}` cannot be imported: {type(error).__name__}: {error}")
    nodes = list(ast.walk(tree))
    defined = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    defined |= {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    referenced = {node.id for node in nodes if isinstance(node, ast.Name)} | defined
    referenced |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    takes_over = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes)
    return _Source(file.name, tree, frozenset(defined), takes_over or bool(_CUNNING & referenced))


def _lost_import(source: _Source, folder: Path, answers: str) -> CodeProblem | None:
    """Return the message about a missing module that a file always imports."""
    for node in source.tree.body:
        lost = next((name for name in _imported(node) if name != answers and _spec(name, folder) is None), "")
        if lost:
            where = f"({source.file}, line {node.lineno})"
            text = f"`{source.file}` cannot be imported: there is no module `{lost}` here {where}; {_REMEDY}"
            return CodeProblem(text, Severity.NOTE)
    return None


def _imported(node: ast.stmt) -> Iterator[str]:
    """Yield the first words of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module.partition(".")[0]


def _lost_name(source: _Source, module: str, name: str, form: str) -> CodeProblem | None:
    """Return the message about a name that a module lacks, or that is not a class although one is required."""
    if name not in source.names:
        shown = sorted(known for known in source.names if not known.startswith("_"))
        return None if source.is_open else CodeProblem(f"`{module}` has no `{name}`{did_you_mean(name, shown)}")
    is_function = any(isinstance(node, _FUNCTIONS) and node.name == name for node in source.tree.body)
    if form != "Class" or not is_function or source.is_open or _is_bound_again(source.tree, name):
        return None
    return CodeProblem(f"`{module}:{name}` is a function; expected a class")


def _is_bound_again(tree: ast.Module, name: str) -> bool:
    """Return whether a decorator or a second binding may have replaced a function."""
    makers = [node for node in tree.body if isinstance(node, _FUNCTIONS) and node.name == name]
    stores = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    decorated = any(node.decorator_list for node in makers)
    return decorated or any(isinstance(node.ctx, ast.Store) for node in stores) or any(classes)
