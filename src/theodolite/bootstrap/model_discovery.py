"""Offers: what an address says that it is, before there is a study about it."""

from __future__ import annotations

import asyncio

from theodolite.bootstrap.clock import SystemClock
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.models.chat_model import ChatModel


def offered_models(url: str) -> tuple[str, ...]:
    """Return the models that an OpenAI-compatible address offers; empty where it says nothing.

    Raises:
        InputError: If the address cannot be used at all.
    """
    return asyncio.run(_ask(ModelEndpoint(name="app", url=url, model="")))


async def _ask(endpoint: ModelEndpoint) -> tuple[str, ...]:
    model = ChatModel(endpoint, clock=SystemClock())
    try:
        return await model.model_names()
    finally:
        await model.close()
