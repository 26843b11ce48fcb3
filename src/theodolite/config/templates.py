"""Templates: which variables a text wants, and what is wrong with it as a template."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jinja2 import TemplateError, TemplateSyntaxError, meta
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
        meta.find_undeclared_variables(_ENVIRONMENT.parse(text))
    except TemplateSyntaxError as error:
        problem = str(error.message or "")
        unknown = re.search(r"No (filter|test) named '([^']+)'", problem)
        if unknown:
            known = _ENVIRONMENT.filters if unknown[1] == "filter" else _ENVIRONMENT.tests
            return f"the template uses an unknown {unknown[1]} `{unknown[2]}`{did_you_mean(unknown[2], known)}"
        return "the template is not closed well: each `{{` needs its `}}`, each `{%` its `%}` and its end"
    except TemplateError:
        return "the text cannot be read as a template"
    return ""


def place_of(variable: str, text: str) -> str:
    """Return the words of the text in which the template wants the variable, e.g. `{{ wish }}`."""
    found = re.search(r"\{[{%][^{}%]*\b" + re.escape(variable) + r"\b[^{}%]*[%}]\}", text)
    return found.group() if found else ""


def unfilled(text: str, known: Iterable[str]) -> list[str]:
    """Return the variables that nothing fills, in order of their names."""
    return sorted(variables(text) - set(known))
