"""Safe text: what applications and people wrote, as HTML that can do nothing.

Words of an application under test are hostile until shown otherwise. They may
be formatted; they may not load, run, link or imitate anything of the page.
"""

from __future__ import annotations

from collections.abc import Sequence

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

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

    Args:
        text: Anything; HTML in it is shown as it was written.
    """
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
    opening = next(token for token in reversed(tokens[:at]) if token.type == "link_open")
    words = "".join(token.content for token in tokens[tokens.index(opening) : at])
    address = str(opening.attrs.get("href", ""))
    return "" if words == address else f' <span class="address">({escape(address)})</span>'


def _image(_renderer: object, tokens: Sequence[Token], at: int, *_: object) -> str:
    return f'<span class="address">[picture: {escape(tokens[at].content or "without description")}]</span>'


_MARKDOWN = _markdown()
