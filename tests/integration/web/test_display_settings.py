"""Display settings of people apply to every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.urls import reverse

from theodolite import web
from theodolite.domain.event import Role


def test_display_settings_apply_to_every_page(client_as):
    client = client_as(Role.ANNOTATOR)
    before = client.get(reverse("display_settings")).content.decode()
    client.post(reverse("display_settings"), {"text_size": "3", "colours": "contrast", "streams": "on"})
    after = client.get(reverse("display_settings")).content.decode()

    assert 'data-keys="off"' not in before
    assert '<html lang="en" dir="ltr" class="size-3 contrast">' in after
    assert 'data-keys="off"' in after


@pytest.mark.parametrize("wanted", [{"text_size": "9"}, {"text_size": "1", "colours": 'red" onload="x'}])
def test_unknown_settings_are_refused(client_as, wanted):
    assert client_as(Role.ANNOTATOR).post(reverse("display_settings"), wanted).status_code == 422


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil.example"]
)
def test_the_form_redirects_only_within_the_site(client_as, wanted):
    answer = client_as(Role.ANNOTATOR).post(reverse("display_settings"), {"text_size": "1", "next": wanted})

    assert (answer.status_code, answer.headers["Location"]) == (302, "/")


@pytest.mark.parametrize("colours", ["contrast", "contrast-dark"])
def test_high_contrast_is_at_least_seven_to_one(colours):
    style = (Path(web.__file__).parent / "static" / "web" / "app.css").read_text(encoding="utf-8")
    inside = re.search(rf"html\.{colours} {{(.*?)}}", style, re.DOTALL)[1]
    shades = dict(re.findall(r"(--[\w-]+): (#\w+);", inside))

    for ink, paper in (
        ("text", "surface"),
        ("text-3", "surface"),
        ("accent", "surface"),
        ("att", "surface"),
        ("crit", "surface"),
        ("on-accent", "accent"),
    ):
        assert contrast(shades[f"--{ink}"], shades[f"--{paper}"]) >= 7, ink


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(shade: str) -> float:
    digits = shade[1:] if len(shade) == 7 else "".join(2 * digit for digit in shade[1:])
    channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
