"""Secrets: what a pasted key looks like, so that it is never read on nor repeated."""

from __future__ import annotations

import re

_SHAPES = re.compile(
    r"""
    \bsk-[A-Za-z0-9_-]{12,}
    | \b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{20,}
    | \bAKIA[0-9A-Z]{12,}
    | \bxox[abprs]-[A-Za-z0-9-]{10,}
    | \bAIza[0-9A-Za-z_-]{20,}
    | \bhf_[A-Za-z0-9]{20,}
    | \b(?:gsk|xai|r8|nvapi|pplx)[_-][A-Za-z0-9_-]{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}
    | \b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+
    | (?<=Bearer\ )[A-Za-z0-9._~+/-]{12,}=*
    | (?:(?<=[?&]key=)|(?<=[?&]api[_-]key=)|(?<=[?&]apikey=)|(?<=[?&]subscription-key=)|(?<=[?&]sig=)
        |(?<=[?&]token=)|(?<=[?&]access_token=))[^&\#\s{}"']{8,}
    | (?<=://)[^/\s:@{}]+:[^/\s{}]+(?=@)
    """,
    re.VERBOSE,
)
_QUERY = re.compile(r"""([?&][\w.\[\]-]{1,64}=)([^&#\s{}"'<>]{16,})""")
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_HEADERS = frozenset({"auth", "x-auth", "cookie", "credential", "credentials", "passwd", "x-signature"})
_NAMES = re.compile(r"(?i)(?:.*[_-])?(?:api|access)?(?:key|token|secret|password|authorization)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def names_secret(key: str) -> bool:
    """Tell whether a key of this name is likely to hold a secret.

    Example:
        >>> [names_secret(key) for key in ("key", "api_key", "X-Api-Key", "keywords")]
        [True, True, True, False]
    """
    return _NAMES.fullmatch(key) is not None


def is_key_header(name: str) -> bool:
    """Tell whether a header of this name carries a key.

    Example:
        >>> [is_key_header(name) for name in ("X-Api-Key", "Authorization", "Cookie", "Accept")]
        [True, True, True, False]
    """
    return names_secret(name) or name.lower() in _HEADERS


def _is_random(value: str) -> bool:
    """Tell whether a value holds a long run of letters and digits, which no word and no date is."""
    return any(not run.isalpha() and not run.isdigit() for run in _RUN.findall(value))


def _struck_query(match: re.Match[str]) -> str:
    """Return a query value, struck out where it looks random."""
    name, value = match.groups()
    return name + "*" * len(value) if _is_random(value) else match.group()


def strike_out(text: str) -> str:
    """Return the text with everything that looks like a secret replaced by stars of equal length."""
    return _QUERY.sub(_struck_query, _SHAPES.sub(lambda match: "*" * len(match.group()), text))


def holds_secret(text: str) -> bool:
    """Tell whether something in the text looks like a secret."""
    return _SHAPES.search(text) is not None or any(_is_random(match[2]) for match in _QUERY.finditer(text))


def is_variable_name(text: str) -> bool:
    """Tell whether the text can be the name of an environment variable and not a key itself.

    A long word without underscore that mixes letters and digits is taken for a key.
    """
    if not _VARIABLE.fullmatch(text) or holds_secret(text):
        return False
    return len(text) < 20 or "_" in text or not any(letter.isdigit() for letter in text)
