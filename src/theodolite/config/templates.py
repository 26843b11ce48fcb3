"""Templates: which variables a text wants, and what is wrong with it as a template."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jinja2 import TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import SandboxedEnvironment

from theodolite.domain.fault import did_you_mean

_ENVIRONMENT = SandboxedEnvironment(autoescape=False)
_ENVIRONMENT.filters.pop("random", None)  # chance comes from the plan's seed, never from a template
_BUILT_IN = frozenset({"range", "dict", "namespace", "cycler", "joiner"})


def variables(text: str) -> frozenset[str]:
    """Return the names that the template wants filled; empty for one that cannot be parsed."""
    try:
        return frozenset(meta.find_undeclared_variables(_ENVIRONMENT.parse(text))) - _BUILT_IN
    except TemplateError:
        return frozenset()


def syntax_problem(text: str) -> str:
    """Return what is wrong with the text as a template; empty where nothing is."""
    try:
        tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError:
        return "the template is not closed well: each `{{` needs its `}}`, each `{%` its `%}` and its end"
    for node in tree.find_all((nodes.Filter, nodes.Test)):
        is_filter = isinstance(node, nodes.Filter)
        known = _ENVIRONMENT.filters if is_filter else _ENVIRONMENT.tests
        if node.name not in known:
            noun = "filter" if is_filter else "test"
            return f"the template uses an unknown {noun} `{node.name}`{did_you_mean(node.name, known)}"
    return ""


def place_of(variable: str, text: str) -> str:
    """Return the words of the text in which the template wants the variable, e.g. `{{ wish }}`."""
    found = re.search(r"\{[{%][^{}%]*\b" + re.escape(variable) + r"\b[^{}%]*[%}]\}", text)
    return found.group() if found else ""


def unfilled(text: str, known: Iterable[str]) -> list[str]:
    """Return the variables that nothing fills, in order of their names."""
    return sorted(variables(text) - set(known))
