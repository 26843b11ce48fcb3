"""Take the parts of Tabler, its icons and Inter that the web pages use, and write them beside the pages' own files.

Unpack the three packages named in `PACKAGES` into one folder, each below its own name, then run:

    python tools/vendor_tabler.py FOLDER

The style sheets keep the rules whose classes are in `CLASSES`, for both writing directions, and put them into the
cascade layer `tabler`, so that every rule of `app.css` overrides them without regard to specificity.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = {
    "tabler": "@tabler/core 1.6.1",
    "icons": "@tabler/icons 3.51.0",
    "inter": "@fontsource-variable/inter 5.3.0",
}
"""Folder below FOLDER to the package and version that it holds."""

WEB = Path(__file__).resolve().parents[1] / "src/theodolite/web"

_CLASS_NAMES = """active accordion alert alert-danger alert-description alert-icon alert-info alert-link alert-title
    alert-warning
    avatar avatar-sm badge badge-outline badges-list breadcrumb breadcrumb-item btn btn-action btn-group btn-icon
    btn-link btn-list btn-primary btn-sm card card-actions card-body card-footer card-header card-link card-sm
    card-stacked card-subtitle card-table card-title collapsed datagrid datagrid-content datagrid-item datagrid-title
    disabled divider empty empty-action empty-header empty-icon empty-img empty-subtitle empty-title form-check
    form-check-inline form-check-input form-check-label form-control form-fieldset form-footer form-help form-hint
    form-label form-select form-text h1 h2 h3 h4 h5 h6 hr-text input-group input-group-flat input-group-text
    input-icon input-icon-addon invalid-feedback is-invalid is-valid list-group list-group-flush list-group-item
    nav nav-item nav-link nav-segmented nav-tabs page-header page-pretitle page-title progress progress-bar
    progress-sm show step-item steps steps-counter subheader table table-hover table-mobile-md table-responsive
    table-sort table-striped table-vcenter tag tags-list visually-hidden"""

CLASSES = frozenset(_CLASS_NAMES.split())
"""Component classes that pages may use; utilities, colour variants, grids and scripts are left out."""

_ICON_NAMES = """adjustments alert-triangle archive arrow-back-up arrow-left arrow-right arrows-sort bell books calendar
    calendar-event certificate chart-bar chart-dots check checklist chevron-down chevron-right circle-check
    circle-dashed circle-dot clipboard-check clipboard-list clock cloud-check code coin copy database download edit
    external-link eye eye-off file-export file-import file-text filter flag folder forms gauge git-compare hash
    help-circle history home hourglass id-badge-2 info-circle key keyboard layout-dashboard link list-check
    list-details lock logout mail menu-2 message message-2 message-circle messages notes paperclip player-pause
    player-play player-stop plus printer quote refresh report-analytics scale search send server settings shield-check
    sitemap star table tag target tool trash upload user user-check user-plus users users-group x"""

ICONS = tuple(_ICON_NAMES.split())
"""Names of outline icons; `{% icon NAME %}` draws them."""


def blocks(css: str) -> Iterator[tuple[str, str | None]]:
    """Yield each rule as prelude and body; a statement without a body has None."""
    at = start = depth = 0
    body_from = 0
    while at < len(css):
        letter = css[at]
        if letter in "\"'":
            at = css.index(letter, at + 1)
        elif letter == "(" and depth == 0:
            at = _closing(css, at)
        elif letter == ";" and depth == 0:
            yield css[start:at].strip(), None
            start = at + 1
        elif letter == "{":
            depth += 1
            body_from = body_from if depth > 1 else at + 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                yield css[start : body_from - 1].strip(), css[body_from:at]
                start = at + 1
        at += 1


def _closing(css: str, at: int) -> int:
    depth = 0
    for place in range(at, len(css)):
        depth += (css[place] == "(") - (css[place] == ")")
        if depth == 0:
            return place
    message = "the style sheet has an open bracket"
    raise ValueError(message)


def subset(css: str) -> str:
    """Return the rules whose classes are all kept."""
    return "".join(_kept(prelude, body) for prelude, body in blocks(css))


def _kept(prelude: str, body: str | None) -> str:
    if body is None or prelude.startswith(("@font-face", "@keyframes", "@page", "@property")):
        return ""
    if prelude.startswith("@"):
        inner = subset(body)
        return f"{prelude}{{{inner}}}" if inner else ""
    selectors = [one for one in _selectors(prelude) if _is_used(one)]
    return f"{','.join(selectors)}{{{body}}}" if selectors else ""


def _selectors(prelude: str) -> list[str]:
    """Return the selectors of a list; commas within brackets separate none."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(prelude):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(prelude[start:at])
            start = at + 1
    return [*parts, prelude[start:]]


def _is_used(selector: str) -> bool:
    """Tell whether a selector names kept classes alone; themes are set by `app.css`, by tokens."""
    return "data-bs-theme" not in selector.replace("[data-bs-theme=light]", "") and all(
        name in CLASSES for name in re.findall(r"\.(-?[A-Za-z_][\w\\:-]*)", selector)
    )


def icon(folder: Path, name: str) -> str:
    """Return what an icon draws, without the frame that every icon has."""
    text = (folder / "icons/icons/outline" / f"{name}.svg").read_text(encoding="utf-8")
    inner = re.sub(r"\s+", " ", text[text.index(">") + 1 : text.rindex("</svg>")]).strip()
    return (
        inner.replace('<path stroke="none" d="M0 0h24v24H0z" fill="none" /> ', "")
        .replace(" />", "/>")
        .replace("> <", "><")
    )


def main() -> None:
    """Write style sheets, icons, font and licences."""
    folder, static = Path(sys.argv[1]), WEB / "static/web"
    for source, target in (("tabler.min.css", "tabler.css"), ("tabler.rtl.min.css", "tabler.rtl.css")):
        css = re.sub(
            r"/\*.*?\*/", "", (folder / "tabler/dist/css" / source).read_text(encoding="utf-8"), flags=re.DOTALL
        )
        kept = subset(css.removeprefix('@charset "UTF-8";'))
        head = f"/* Parts of {PACKAGES['tabler']}, MIT: see tabler.LICENSE.txt. Written by tools/vendor_tabler.py. */\n"
        (static / target).write_text(f"{head}@layer tabler{{{kept}}}\n", encoding="utf-8")
    drawn = {name: icon(folder, name) for name in sorted(ICONS)}
    (WEB / "icons.json").write_text(json.dumps(drawn, indent=0) + "\n", encoding="utf-8")
    (static / "inter.woff2").write_bytes((folder / "inter/files/inter-latin-wght-normal.woff2").read_bytes())
    (static / "inter.LICENSE.txt").write_bytes((folder / "inter/LICENSE").read_bytes())


if __name__ == "__main__":
    main()
