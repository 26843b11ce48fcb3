"""Prices: what models cost by a list of the study's own, else by their makers' public lists, each with its day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from ruamel.yaml import YAML

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.resources import shipped_text
from theodolite.config.specs.prices import ListedPriceSpec, PriceListSpec
from theodolite.config.study_paths import RefusedPath
from theodolite.config.validation import validated
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.model import Price

OWN = "prices.yaml"
"""Name of a study's own price list, in its folder."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Prices = Mapping[tuple[str, str], Price]
"""Host and name of a model to its price; without a host, wherever the model is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """Prices of a study's own list, and behind them the shipped ones.

    Attributes:
        own: Those of the study's own list.
    """

    own: Prices = field(default_factory=dict)

    def price_of(self, url: str, model: str) -> Price | None:
        """Return what a model costs, or None if nobody lists it."""
        host = _host(url)
        return self.own.get((host, model)) or self.own.get(("", model)) or known_price(url, model)


def price_book(context: LoadContext) -> PriceBook:
    """Return the prices that hold in a study; what is wrong with its own list becomes faults."""
    path = context.find(OWN)
    if isinstance(path, RefusedPath):
        context.diagnostics.add(LocatedDiagnostic(file=OWN, message=path.message))
    if not isinstance(path, Path):
        return PriceBook()
    source = read_yaml(context.bytes_of(path), OWN)
    spec = validated(source, PriceListSpec, owner=f"`{OWN}`") if source.content else None
    context.diagnostics.add(*source.faults)
    if spec is None:
        return PriceBook()
    return PriceBook(own=_own_prices(Entry(name=OWN, spec=spec, source=source, path=()), context))


def _own_prices(entry: Entry[PriceListSpec], context: LoadContext) -> Prices:
    found: dict[tuple[str, str], Price] = {}
    for place, listed in enumerate(entry.spec.prices):
        if problem := day_problem(listed.as_of):
            context.diagnostics.add(entry.fault("prices", place, "as_of", message=problem))
        for number, key in enumerate(_keys(listed)):
            if key in found:
                message = f"`{key[1]}` is listed twice{f' for {key[0]}' if key[0] else ''}"
                context.diagnostics.add(entry.fault("prices", place, "models", number, message=message))
            found[key] = Price(input_usd=listed.input, output_usd=listed.output, as_of=listed.as_of)
    return found


def day_problem(text: str) -> str:
    """Return what is wrong with the day of a price list; empty where nothing is."""
    try:
        is_day = _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        is_day = False
    return "" if is_day else f"`as_of` is `{text}`; expected a day, e.g. 2026-10-01"


def known_price(url: str, model: str) -> Price | None:
    """Return the shipped price of a model at its maker's address, or None if nobody lists one."""
    host, listed = _host(url), shipped_text(OWN)
    # Reading the list takes a while, and most studies name other hosts.
    return _shipped_prices(listed).get((host, model)) if host and host in listed else None


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


@cache
def _shipped_prices(text: str) -> Prices:
    listed = PriceListSpec.model_validate(YAML(typ="safe", pure=True).load(text))
    return {
        key: Price(input_usd=entry.input, output_usd=entry.output, as_of=entry.as_of)
        for entry in listed.prices
        for key in _keys(entry)
    }


def _keys(listed: ListedPriceSpec) -> Iterator[tuple[str, str]]:
    yield from ((listed.host, model) for model in listed.models)
