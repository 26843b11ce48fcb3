"""The shipped rules by which simulated users are looked at."""

from __future__ import annotations

from functools import cache

from ruamel.yaml import YAML

from theodolite.config.resources import shipped_text
from theodolite.domain.findings.role_break import RoleBreakKind, RoleBreakRule, RoleBreakRules


@cache
def role_break_rules() -> RoleBreakRules:
    """Return the rules that the package ships."""
    listed = YAML(typ="safe", pure=True).load(shipped_text("simulated_users.yaml"))
    return RoleBreakRules(
        rules=tuple(
            RoleBreakRule(
                kind=RoleBreakKind(kind),
                meaning=entry["meaning"],
                words=tuple(entry.get("words", ())),
                hints=tuple(entry.get("hints", ())),
            )
            for kind, entry in listed["rules"].items()
        ),
        same_words=float(listed["same_words"]),
        echoed_words=int(listed["echoed_words"]),
        languages=tuple(listed["languages"]),
        few_turns=int(listed["few_turns"]),
        long_limit=int(listed["long_limit"]),
    )
