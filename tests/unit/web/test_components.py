from __future__ import annotations

import re
from pathlib import Path

import pytest

import theodolite.web
from theodolite.domain.event import Role
from theodolite.web.components import MOST_WAITING, SECTIONS, amount_text, icon

WEB = Path(theodolite.web.__file__).parent


def test_an_icon_is_inline_and_hidden_from_screen_readers():
    drawn = icon("home", "small")

    assert drawn.startswith('<svg class="icon icon-small"')
    assert 'aria-hidden="true"' in drawn
    assert "style=" not in drawn


def test_an_unknown_icon_is_an_error():
    with pytest.raises(KeyError):
        icon("no-such-icon")


@pytest.mark.parametrize("role", sorted(SECTIONS, key=lambda role: role.value))
def test_every_section_has_an_icon_and_covers_its_pages_once(role):
    names = [name for one in SECTIONS[role] for name in (*(page for page, _ in one.pages), *one.inner)]

    assert all(icon(one.icon) for one in SECTIONS[role])
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("n", "text"), [(0, ""), (1, "1"), (MOST_WAITING, "99"), (MOST_WAITING + 1, "99+")])
def test_an_amount_of_waiting_work_is_a_number_of_two_digits_at_most(n, text):
    assert amount_text(n) == text


def test_testers_have_no_sidebar():
    assert not {Role.RED_TEAMER, Role.FIELD_TESTER} & set(SECTIONS)


def test_templates_name_existing_icons():
    texts = "".join(path.read_text(encoding="utf-8") for path in (WEB / "templates").rglob("*.html"))
    names = set(re.findall(r"{% icon \"([\w-]+)\"", texts))

    assert names
    assert all(icon(name) for name in names)


@pytest.mark.parametrize("sheet", ["tabler.css", "tabler.rtl.css", "app.css"])
def test_style_sheets_load_nothing_from_elsewhere(sheet):
    style = (WEB / "static" / "web" / sheet).read_text(encoding="utf-8")
    addresses = re.findall(r"url\(\"?'?([^\"')]+)", style)

    assert all(address.startswith("data:") or address == "inter.woff2" for address in addresses)
    assert "@import" not in style


def test_both_directions_style_the_same_classes():
    sheets = [(WEB / "static" / "web" / name).read_text(encoding="utf-8") for name in ("tabler.css", "tabler.rtl.css")]
    left, right = (set(re.findall(r"\.([a-z][\w-]*)", sheet)) for sheet in sheets)

    assert left == right
    assert sheets[0] != sheets[1]


def test_the_component_page_shows_every_class_of_the_shared_components():
    style = (WEB / "static/web/app.css").read_text("utf-8")
    shared = style[style.index("/* Buttons */") : style.index("/* Parts of single pages */")]
    selectors = re.sub(r"\{[^{}]*\}", " ", re.sub(r"/\*.*?\*/", "", shared, flags=re.DOTALL))
    classes = set(re.findall(r"\.([a-z][a-z0-9-]*)", selectors))
    page = (WEB / "templates/web/components.html").read_text("utf-8")
    charts = (WEB.parent / "reporting/words/lanes.py").read_text("utf-8")
    shown = {name for text in re.findall(r'class="([^"{]*)', page + charts) for name in text.split()}
    by_scripts_and_values = {"table-filter", "alpha", "forecast", "plan", "icon"}
    of_single_forms = {"plain-form", "stage"}

    assert len(classes) > 50
    assert classes - shown - by_scripts_and_values - of_single_forms == set()
