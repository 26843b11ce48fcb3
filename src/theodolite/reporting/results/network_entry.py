"""The entry of what an application's code does on the network."""

from __future__ import annotations

from theodolite.domain.identity import Json
from theodolite.domain.network import NetworkUse


def network_entry(use: NetworkUse) -> dict[str, Json]:
    """Return what was allowed and what was observed, as JSON."""
    return {
        "application": use.application,
        "allowed": None if use.allowed is None else list(use.allowed),
        "observed": use.is_observed,
        "cut_off": use.is_cut_off,
        "connections": list(use.connections),
        "refused": list(use.refused),
        "programs": list(use.programs),
    }
