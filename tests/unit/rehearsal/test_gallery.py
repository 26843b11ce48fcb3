"""Which pages of a rehearsal are kept, and how."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser_pages import CHROMIUM
from theodolite.assessment.unblinding import SecretWord
from theodolite.bootstrap.page_checks import Lookout, PageAnswer
from theodolite.rehearsal.gallery import Gallery, draw, kind_of

PATHS = {
    "/": "home",
    "/join/abc:def/": "join",
    "/code/big-red-dog-7/": "code",
    "/s/tok/test/consent/": "test-consent",
    "/s/tok/test/2/": "test-chat",
    "/s/tok/test/2/questions/1/": "test-questions",
    "/s/tok/organise/people/": "organise-people",
    "/s/tok/annotate/d/aB3-x/": "annotate-d",
    "/s/tok/review/item/aB3-x/": "review-item",
}


def page(text: str, *, status: int = 200) -> PageAnswer:
    return PageAnswer("http://h/s/tok/test/1/", status, "Content-Type: text/html", text)


@pytest.mark.parametrize(("path", "kind"), PATHS.items())
def test_a_kind_of_page_holds_no_key_and_no_number(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_the_fullest_page_of_a_kind_is_kept_whole_and_without_scripts(tmp_path: Path) -> None:
    gallery = Gallery()
    keep = gallery.seen_by("tester")
    full = page('<link rel="stylesheet" href="/a.css"><script src="/b.js"></script><p>long and full</p>')
    for each in (page("<p>short</p>"), full, page("<p>" + "failed" * 99, status=500)):
        keep(each)

    (file,) = gallery.hang(tmp_path, lambda address: f"/* {address} */")

    assert gallery.n_pages == 3
    assert file.name == "tester-test-chat.html"
    assert file.read_text(encoding="utf-8") == "<style>/* http://h/a.css */</style><p>long and full</p>"


def test_a_page_is_drawn_beside_its_file(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text("<p>seen</p>", encoding="utf-8")

    assert draw((file,), str(CHROMIUM)) == 1
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_browser_that_is_none_draws_nothing(tmp_path: Path) -> None:
    assert draw((tmp_path / "a.html",), str(tmp_path / "no-browser")) == 0


def test_pages_of_people_are_searched_and_those_of_organisers_are_not() -> None:
    lookout = Lookout("red teamer", (SecretWord("bot-1", "an application"),))
    gallery = Gallery({"red-teamer": lookout})
    gallery.seen_by("organiser")(page("<p>bot-1</p>"))
    assert lookout.leaks == ()
    gallery.seen_by("red-teamer")(page("<p>bot-1</p>"))

    assert [leak.told.secret.words for leak in lookout.leaks] == ["bot-1"]
