"""Words of an application may be formatted, and can do nothing else."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.web.safe_text import safe_html

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
