"""Words of an application may be formatted, and can do nothing else."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.web import safe_text
from theodolite.web.safe_text import LONGEST_FORMATTED, safe_html

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '<svg/onload="alert(1)">',
    "[press me](javascript:alert(1))",
    "[press me](JaVaScRiPt&colon;alert(1))",
    "[press me](data:text/html;base64,PHNjcmlwdD4=)",
    "![seen](https://tracker.example/pixel.png)",
    '[free](https://evil.example/ "onmouseover=alert(1)")',
    "<https://evil.example/?a=1&b=2>",
    "<style>body{display:none}</style>",
    '<form action="https://evil.example"><input name=password></form>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "```\n<script>alert(1)</script>\n```",
    "| a |\n|---|\n| <b onclick=alert(1)>x</b> |",
    "# <script>alert(1)</script>",
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    "{{ 7 * 7 }}{% load static %}",
    "\u202egnp.exe",
]


class Seen(HTMLParser):
    """Collects the tags and attributes of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(attrs)


def seen(html: str) -> Seen:
    parser = Seen()
    parser.feed(html)
    return parser


ALLOWED_TAGS = {
    "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr",
    "table", "thead", "tbody", "tr", "th", "td", "span",
}  # fmt: skip


def is_harmless(html: str) -> bool:
    found = seen(html)
    classes = {("class", "address"), ("class", "heading")}
    return found.tags <= ALLOWED_TAGS and all(pair in classes or pair[0] == "start" for pair in found.attributes)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_comes_through(text: str) -> None:
    assert is_harmless(safe_html(text))


@given(st.text(alphabet=st.sampled_from("<>\"'/=&;:()[]!`#*_|\\ \n-abonscriptimgjavhrefx")))
def test_no_text_comes_through_as_more_than_format(text: str) -> None:
    assert is_harmless(safe_html(text))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**no**", "<p><strong>no</strong></p>\n"),
        ("## Plot", '<p class="heading"><strong>Plot</strong></p>'),
        ("[here](https://a.example/b)", '<p>here <span class="address">(https://a.example/b)</span></p>\n'),
        ("<https://a.example>", "<p>https://a.example</p>\n"),
        ("![a lighthouse](https://a.example/l.png)", '<p><span class="address">[picture: a lighthouse]</span></p>\n'),
        ("3. three", '<ol start="3">\n<li>three</li>\n</ol>\n'),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
    ],
    ids=["bold", "heading", "link", "bare address", "picture", "list", "tags as written"],
)
def test_format_and_addresses_are_shown(text: str, html: str) -> None:
    assert safe_html(text) == html


def test_the_rest_of_a_long_text_is_shown_as_it_was_written():
    text = "**bold**\n" + "a\n" * (LONGEST_FORMATTED // 2) + "**plain** <script>alert(1)</script>"

    html = safe_html(text)

    assert html.startswith("<p><strong>bold</strong>")
    assert html.endswith("**plain** &lt;script&gt;alert(1)&lt;/script&gt;</pre>")


@pytest.mark.parametrize("text", ["[" * 1_000_000, "a" * LONGEST_FORMATTED + "b", "\n" * 200_000])
def test_only_the_beginning_of_a_long_text_is_read_as_markdown(text, monkeypatch):
    read = []
    monkeypatch.setattr(safe_text, "_formatted", lambda part: read.append(part) or "")

    safe_html(text)

    assert [len(part) <= LONGEST_FORMATTED for part in read] == [True]


def test_a_table_whose_rows_are_filled_up_does_not_grow_out_of_all_proportion():
    table = "|a" * 800 + "\n" + "|-" * 800 + "\n" + "|\n" * 800  # 640,000 cells of which nobody wrote one

    assert len(safe_html(table)) < 1_000_000


def test_a_text_that_many_people_look_at_is_read_once():
    safe_html("_once_ for all")
    before = safe_text._formatted.cache_info().misses

    safe_html("_once_ for all")

    assert safe_text._formatted.cache_info().misses == before


def test_the_address_of_each_of_many_links_is_found_from_where_it_ends():
    """Reading all tokens before each link took the square of their number."""

    class Counted(list):
        looked_at = 0

        def __getitem__(self, place):
            Counted.looked_at += place.stop - (place.start or 0) if isinstance(place, slice) else 1
            return super().__getitem__(place)

    tokens = Counted(safe_text._MARKDOWN.parseInline("[a](b)" * 500)[0].children)
    for at, token in enumerate(list(tokens)):
        if token.type == "link_close":
            safe_text._link_close(None, tokens, at)

    assert Counted.looked_at < 10 * len(tokens)
