"""The documentation of the installed version: its pages, full-text search, and a site of HTML files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path, PurePosixPath

import theodolite
from theodolite.config.load_context import shipped_text, user_data_folder
from theodolite.domain.errors import InputError, did_you_mean

CONTENTS = "README"
"""Name of the page with the contents."""

SKILL = "skill"
"""Name of the page for coding agents."""

_COMMENT = re.compile(r"^ *<!--.*?-->[ \t]*\n", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^<!-- file: (\S+) -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]+\)")
_MARK = re.compile(r"^#+ |^[|\-: ]+$|[`|]|\*\*|~~~|^- ", re.MULTILINE)
_SECTION = re.compile(r"(?P<level>##+) (?P<title>.+)")
_ENTRY = re.compile(r"- \[(?P<title>.+)\]\((?P<file>[^)#]+)\.md\)")
_TITLE = re.compile(r"^# (?P<title>.+)$", re.MULTILINE)
_FROM_SKILL = "](../../docs/"
"""Start of the links from the skill to the pages; here the skill is a page next to them."""

_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_STYLES = ("report/css/00-tokens.css", "documentation/style.css")
_MARKS = str.maketrans("", "", "`*")
_FIELD = re.compile(r"\{\{ (\w+) \}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page.

    Attributes:
        name: Its path without suffix, e.g. `how-to/ci-gate`.
        title: Its first heading.
        text: Its Markdown.
    """

    name: str
    title: str
    text: str

    @property
    def file(self) -> str:
        """Path in the site, e.g. `how-to/ci-gate.html`; contents are the start page of their folder."""
        path = PurePosixPath(self.name)
        return str(path.with_name("index.html") if path.name == CONTENTS else path.with_name(f"{path.name}.html"))


@dataclass(frozen=True, kw_only=True)
class Documentation:
    """All pages.

    Attributes:
        folder: Folder with the Markdown files.
        skill: File of the skill for coding agents.
    """

    folder: Path
    skill: Path

    @cached_property
    def pages(self) -> dict[str, Page]:
        """Pages by name, in order of the names; the contents come first."""
        files = {path.relative_to(self.folder).with_suffix("").as_posix(): path for path in self.folder.rglob("*.md")}
        names = sorted(files, key=lambda name: (name != CONTENTS, name))
        return {name: _page(name, files[name]) for name in names} | {SKILL: _page(SKILL, self.skill)}

    def page(self, name: str) -> Page:
        """Return the page of a name, with or without its folder.

        Raises:
            InputError: If there is none, or several match.
        """
        page_name = name.strip("/").removesuffix(".md").removesuffix(".html")
        if page_name in self.pages:
            return self.pages[page_name]
        same = [page for page in self.pages.values() if PurePosixPath(page.name).name == page_name]
        if len(same) == 1:
            return same[0]
        short = {PurePosixPath(one).name: one for one in self.pages}
        near = did_you_mean(page_name, [*self.pages, *short])
        suggestion = f". Did you mean {' or '.join(f'`{page.name}`' for page in same)}?" if same else near or "."
        message = f"there is no page `{name}`{suggestion} Search:  theodolite docs --search WORDS"
        raise InputError(message)

    def search(self, words: str) -> list[Page]:
        """Return the pages that contain all words, those with the words in the title first."""
        terms = words.lower().split()

        def rank(page: Page) -> tuple[bool, bool, int]:
            title, text = page.title.lower(), page.text.lower()
            in_title = sum(word in title for word in terms)
            return page.name.startswith("adr/"), in_title < len(terms), -sum(text.count(word) for word in terms)

        result = [page for page in self.pages.values() if terms and all(term in page.text.lower() for term in terms)]
        return sorted(result, key=rank)

    def sections(self) -> Iterator[tuple[int, str, list[Page]]]:
        """Yield the headings of the contents with their level and the pages below them."""
        level, title, listed = 0, "", list[Page]()
        for line in self.pages[CONTENTS].text.splitlines():
            if heading := _SECTION.fullmatch(line.strip()):
                if title:
                    yield level, title, listed
                level, title, listed = len(heading["level"]), heading["title"], []
            elif (entry := _ENTRY.fullmatch(line.strip())) and entry["file"] in self.pages:
                listed.append(self.pages[entry["file"]])
        if title:
            yield level, title, listed


def documentation() -> Documentation:
    """Return the documentation of the package, or that of the source tree it is imported from.

    Raises:
        InputError: If neither is there.
    """
    package = Path(theodolite.__file__).parent
    root = package.parents[1]
    for folder, skill in (
        (package / "resources" / "documentation" / "pages", package / "resources" / "documentation" / "SKILL.md"),
        (root / "docs", root / "skills" / "theodolite" / "SKILL.md"),
    ):
        if (folder / f"{CONTENTS}.md").is_file():
            return Documentation(folder=folder, skill=skill)
    message = "this installation has no documentation; install the wheel or the source archive of Theodolite"
    raise InputError(message)


def _page(name: str, path: Path) -> Page:
    text = path.read_text(encoding="utf-8").replace(_FROM_SKILL, "](")
    title = _TITLE.search(text)
    return Page(name=name, title=title["title"].translate(_MARKS) if title else name, text=text)


def default_site_folder() -> Path:
    """Return the default folder of the site; each version has its own."""
    return user_data_folder() / "documentation" / version("theodolite")


def write_site(source: Documentation, folder: Path) -> Path:
    """Write the site as HTML files with a search that needs no server, and return its start page.

    Raises:
        InputError: If the folder cannot be written.
    """
    pages = list(source.pages.values())
    entries = [{"title": page.title, "file": page.file, "text": _plain(page.text)} for page in pages]
    files = {page.file: _html_page(source, page).encode() for page in pages}
    files["style.css"] = "\n".join(shipped_text(name) for name in _STYLES).encode()
    files["search.js"] = f"const PAGES = {json.dumps(entries)};\n{shipped_text('documentation/search.js')}".encode()
    pictures = (path for path in source.folder.rglob("*") if path.suffix in {".svg", ".png", ".ipynb"})
    files |= {path.relative_to(source.folder).as_posix(): path.read_bytes() for path in pictures}
    try:
        for name, stored in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(stored)
    except OSError as error:
        message = f"`{folder}` cannot be written: {error.strerror}. Name another folder:  theodolite docs --out DIR"
        raise InputError(message) from error
    return folder / source.pages[CONTENTS].file


def _plain(text: str) -> str:
    """Return the text of a page without its title and markup."""
    words = _LINK.sub(r"\1", _TITLE.sub("", _COMMENT.sub("", _FRONT.sub("", text)), count=1))
    return " ".join(_MARK.sub(" ", words).split())


def _html_page(source: Documentation, page: Page) -> str:
    """Return the HTML of a page: contents at the side, search at the top."""
    up = "../" * page.file.count("/")
    fields = {
        "title": escape(page.title),
        "up": up,
        "version": escape(version("theodolite")),
        "contents": "\n".join(_contents(source, page, up)),
        "body": _body(page),
    }
    return _FIELD.sub(lambda field: fields[field[1]], shipped_text("documentation/page.html"))


def _contents(source: Documentation, shown: Page, up: str) -> Iterator[str]:
    for level, title, listed in source.sections():
        yield f'<h{level} class="level-{level}">{escape(title)}</h{level}>'
        if listed:
            links = (
                f'<li><a href="{up}{page.file}"{" aria-current=page" if page.name == shown.name else ""}>'
                f"{escape(page.title)}</a></li>"
                for page in listed
            )
            yield f"<ul>{''.join(links)}</ul>"


def _body(page: Page) -> str:
    from markdown_it import MarkdownIt  # only this command needs it

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = reader.parse(_COMMENT.sub("", _FILE.sub(r"File `\1`:", _FRONT.sub("", page.text))))
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(following.content))
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", _address(str(child.attrGet("href"))))
    body: str = reader.renderer.render(tokens, reader.options, {})
    return body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def _anchor(heading: str) -> str:
    """Return the anchor of a heading within its page, as other Markdown renderers form it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-")


def _address(target: str) -> str:
    """Return the address in the site that a link between Markdown files leads to."""
    file, mark, heading = target.partition("#")
    if "://" in target or not file.endswith(".md"):
        return target
    return Page(name=file.removesuffix(".md"), title="", text="").file + mark + heading
