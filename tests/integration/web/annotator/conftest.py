"""Fixtures: template contexts of responses, and annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.test.utils import setup_test_environment, teardown_test_environment
from django.urls import reverse

from theodolite.domain.event import Role
from theodolite.web.models import Account, HostedStudy, Membership


@pytest.fixture(autouse=True)
def watched_templates() -> Iterator[None]:
    """Add the template context to responses."""
    setup_test_environment()
    yield
    teardown_test_environment()


@pytest.fixture
def anna(client_as: Callable[[Role], Client]) -> Client:
    """The seeded annotator."""
    return client_as(Role.ANNOTATOR)


@pytest.fixture
def address(anna: Client, event: HostedStudy) -> str:
    """Address of the dialogue assigned to her."""
    return anna.post(reverse("annotator:take", args=[event.token])).headers["Location"]


@pytest.fixture
def annotator(event: HostedStudy, client_as: Callable[[None], Client]) -> Callable[[str], Client]:
    """Return a function that adds an annotator."""

    def join(name: str) -> Client:
        account = Account.objects.create_user(name=name)
        Membership.objects.create(account=account, hosted=event, role=Role.ANNOTATOR.value)
        client = client_as(None)
        client.force_login(account)
        return client

    return join
