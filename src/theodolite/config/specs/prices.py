"""Specs of a price list: what models cost, each with its day and source."""

from __future__ import annotations

from pydantic import Field

from theodolite.config.specs.base import Filled, Spec


class ListedPriceSpec(Spec):
    """What some models of one host cost."""

    host: str = ""
    """Host, e.g. `api.openai.com`; default: any."""
    models: list[Filled] = Field(min_length=1)
    """Names of the models at the endpoint."""
    input: float = Field(ge=0)
    """US dollars per million input tokens."""
    output: float = Field(ge=0)
    """US dollars per million output tokens."""
    as_of: Filled
    """Day of the price list, `YYYY-MM-DD`."""
    source: str = ""
    """Source of the price."""


class PriceListSpec(Spec):
    """A price list: `prices.yaml` beside a study, which goes before the shipped one."""

    prices: list[ListedPriceSpec] = Field(default_factory=list)
    """Prices, one entry for models that cost the same."""
