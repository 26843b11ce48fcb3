"""Prices: what well-known models cost by their makers' public lists, each with its day and source."""

from __future__ import annotations

from functools import cache
from urllib.parse import urlsplit

from ruamel.yaml import YAML

from theodolite.config.shipped import shipped_text
from theodolite.domain.model import Price


def known_price(url: str, model: str) -> Price | None:
    """Return the listed price of a model at its maker's address, or None if nobody lists one."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    listed = shipped_text("prices.yaml")
    # Reading the list takes a while, and most studies name other hosts.
    return _prices(listed).get((host, model)) if host and host in listed else None


@cache
def _prices(text: str) -> dict[tuple[str, str], Price]:
    listed = YAML(typ="safe", pure=True).load(text)
    return {
        (entry["host"], model): Price(
            input_usd=float(entry["input"]), output_usd=float(entry["output"]), as_of=str(entry["as_of"])
        )
        for entry in listed["prices"]
        for model in entry["models"]
    }
