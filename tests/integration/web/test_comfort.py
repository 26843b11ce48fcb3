"""What people choose for themselves holds on every page."""

from __future__ import annotations

import pytest
from django.urls import reverse

from theodolite.domain.role import Role


def test_what_is_chosen_holds_on_every_page(client_as):
    client = client_as(Role.ANNOTATOR)
    before = client.get(reverse("comfort")).content.decode()
    client.post(reverse("comfort"), {"text_size": "3", "streams": "on"})
    after = client.get(reverse("comfort")).content.decode()

    assert 'data-keys="off"' not in before
    assert '<html lang="en" class="size-3">' in after
    assert 'data-keys="off"' in after


def test_a_size_that_does_not_exist_is_refused(client_as):
    assert client_as(Role.ANNOTATOR).post(reverse("comfort"), {"text_size": "9"}).status_code == 422


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil.example"]
)
def test_nobody_is_led_elsewhere(client_as, wanted):
    answer = client_as(Role.ANNOTATOR).post(reverse("comfort"), {"text_size": "1", "next": wanted})

    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
