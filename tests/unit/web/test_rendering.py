"""Texts of an application may be formatted, and can do nothing else; charts show each answer once."""

from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.web import rendering
from theodolite.web.rendering import LONGEST_FORMATTED, MOST_SQUARES, safe_html, share_line, share_place, unit_strip


def test_each_of_few_answers_is_a_square_and_none_overlap():
    strip = unit_strip(2, 1, 1)
    edges = [x for x, _ in strip.squares]

    assert [kind for _, kind in strip.squares] == ["yes", "yes", "no", "open"]
    assert all(after - before > 9 for before, after in pairwise(edges))
    assert edges[-1] + 9 < strip.width


@pytest.mark.parametrize("counts", [(0, 0, 0), (MOST_SQUARES, 1, 0)], ids=["none", "many"])
def test_no_answers_and_many_answers_have_no_squares(counts):
    assert unit_strip(*counts) is None


def test_a_share_of_few_is_a_count_without_a_bar():
    few = Estimate(value=0.5, low=0.1, high=0.9, confidence=0.95, n=4, count=2, unit="u", method="m")

    assert share_line(few).at is None
    assert share_line(few).words == "2 of 4"


@pytest.mark.parametrize(
    ("found", "words"), [(None, "too few people to tell"), (Undefined(reason="None."), "none coded")], ids=str
)
def test_a_missing_share_is_stated(found, words):
    assert share_line(found).words == words


def test_a_share_is_on_the_same_line_as_its_comparison():
    many = Estimate(value=0.5, low=0.25, high=0.75, confidence=0.95, n=20, count=10, unit="u", method="m")

    assert share_line(many).at == share_place(0.5)
    assert share_place(0.0) < share_line(many).low < share_place(0.5) < share_place(1.0)


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
def test_hostile_markup_is_removed(text: str) -> None:
    assert is_harmless(safe_html(text))


@given(st.text(alphabet=st.sampled_from("<>\"'/=&;:()[]!`#*_|\\ \n-abonscriptimgjavhrefx")))
def test_markdown_produces_formatting_only(text: str) -> None:
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
def test_formatting_and_links_are_shown(text: str, html: str) -> None:
    assert safe_html(text) == html


def test_the_rest_of_a_long_text_is_shown_unformatted():
    text = "**bold**\n" + "a\n" * (LONGEST_FORMATTED // 2) + "**plain** <script>alert(1)</script>"

    html = safe_html(text)

    assert html.startswith("<p><strong>bold</strong>")
    assert html.endswith("**plain** &lt;script&gt;alert(1)&lt;/script&gt;</pre>")


@pytest.mark.parametrize("text", ["[" * 1_000_000, "a" * LONGEST_FORMATTED + "b", "\n" * 200_000])
def test_only_the_start_of_a_long_text_is_parsed_as_markdown(text, monkeypatch):
    read = []
    monkeypatch.setattr(rendering, "_formatted", lambda part: read.append(part) or "")

    safe_html(text)

    assert [len(part) <= LONGEST_FORMATTED for part in read] == [True]


def test_a_table_with_padded_rows_does_not_grow_disproportionately():
    table = "|a" * 800 + "\n" + "|-" * 800 + "\n" + "|\n" * 800  # 640,000 cells of which nobody wrote one

    assert len(safe_html(table)) < 1_000_000


def test_a_text_viewed_by_many_people_is_parsed_once():
    safe_html("_once_ for all")
    before = rendering._formatted.cache_info().misses

    safe_html("_once_ for all")

    assert rendering._formatted.cache_info().misses == before


def test_links_in_a_text_with_many_links_are_found_in_linear_time():
    """Reading all tokens before each link took the square of their number."""

    class Counted(list):
        looked_at = 0

        def __getitem__(self, place):
            Counted.looked_at += place.stop - (place.start or 0) if isinstance(place, slice) else 1
            return super().__getitem__(place)

    tokens = Counted(rendering._MARKDOWN.parseInline("[a](b)" * 500)[0].children)
    for at, token in enumerate(list(tokens)):
        if token.type == "link_close":
            rendering._link_close(None, tokens, at)

    assert Counted.looked_at < 10 * len(tokens)
