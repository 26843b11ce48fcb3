"""Safe text: what applications and people wrote, as HTML that can do nothing.

Words of an application under test are hostile until shown otherwise. They may
be formatted; they may not load, run, link or imitate anything of the page.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

LONGEST_FORMATTED = 50_000
"""Characters of a text that are read as Markdown; count."""

_TAGS = {
    "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr",
    "table", "thead", "tbody", "tr", "th", "td", "span",
}  # fmt: skip
_ATTRIBUTES = {"ol": {"start"}}
_CLASSES = {"span": {"address"}, "p": {"heading"}}


def safe_html(text: str) -> SafeString:
    """Return Markdown as HTML without links, pictures, headings, scripts or styles of its own.

    A link is shown as its words with the address beside them: nobody is led anywhere by
    a click, and nobody's address reaches the host that a link names. A picture is shown
    as its description. Headings become bold lines, since headings are the page's own.
    Of a text of more than `LONGEST_FORMATTED` characters the rest is shown as it was
    written: reading a hostile text takes a second for each 100,000 of them.

    Args:
        text: Anything; HTML in it is shown as it was written.
    """
    if len(text) <= LONGEST_FORMATTED:
        return _formatted(text)
    cut = text.rfind("\n", 0, LONGEST_FORMATTED) + 1 or LONGEST_FORMATTED
    return format_html("{}<pre>{}</pre>", _formatted(text[:cut]), text[cut:])


@functools.lru_cache(maxsize=256)
def _formatted(text: str) -> SafeString:
    html = _MARKDOWN.render(text)
    clean = nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, allowed_classes=_CLASSES, url_schemes=set())
    return mark_safe(clean)  # noqa: S308 - this is the place that makes it so


def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    reader.add_render_rule("link_open", lambda *_: "")
    reader.add_render_rule("link_close", _link_close)
    reader.add_render_rule("image", _image)
    reader.add_render_rule("heading_open", lambda *_: '<p class="heading"><strong>')
    reader.add_render_rule("heading_close", lambda *_: "</strong></p>")
    return reader


def _link_close(_renderer: object, tokens: Sequence[Token], at: int, *_: object) -> str:
    """Return the address of the link that ends here."""
    opening = next(index for index in range(at - 1, -1, -1) if tokens[index].type == "link_open")
    text = "".join(token.content for token in tokens[opening:at])
    address = str(tokens[opening].attrs.get("href", ""))
    return "" if text == address else f' <span class="address">({escape(address)})</span>'


def _image(_renderer: object, tokens: Sequence[Token], at: int, *_: object) -> str:
    return f'<span class="address">[picture: {escape(tokens[at].content or "without description")}]</span>'


_MARKDOWN = _markdown()
