"""Template tags of the design system: icons, the sidebar of a role, and the section of a page.

The tags are built into every template.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from django import template
from django.urls import NoReverseMatch, resolve, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from theodolite.annotation import cases, queues, review
from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, role_words
from theodolite.web.models import Submission
from theodolite.web.support import n_open_questions

register = template.Library()


@functools.cache
def _drawings() -> Mapping[str, str]:
    """Return the drawing of each icon, by its name."""
    drawings: dict[str, str] = json.loads(resources.files("theodolite.web").joinpath("icons.json").read_text("utf-8"))
    return drawings


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """Draw an inline icon; it is decorative, so the adjacent text must carry the meaning.

    Args:
        name: A name in `icons.json`.
        size: Empty, `small` or `large`.

    Raises:
        KeyError: If no icon has the name.
    """
    return format_html(
        '<svg class="icon{}" viewBox="0 0 24 24" aria-hidden="true" focusable="false">{}</svg>',
        f" icon-{size}" if size else "",
        mark_safe(_drawings()[name]),  # noqa: S308 - a packaged file
    )


@register.filter
def thousands(number: int) -> str:
    """Return a count with separated thousands, e.g. `2,250`."""
    return f"{number:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SidebarSection:
    """One entry of the sidebar, with the pages that belong to it.

    Attributes:
        title: Text of the entry.
        icon: Name of its icon.
        pages: Name and title of each page with a tab; the entry opens the first page.
        inner: Names of further pages of the section, reached from its pages.
    """

    title: str
    icon: str
    pages: tuple[tuple[str, str], ...]
    inner: tuple[str, ...] = ()

    def covers(self, name: str) -> bool:
        """Return whether a page belongs to the section."""
        return name in self.inner or any(name == page for page, _ in self.pages)


_CODING = (
    "analyst:answer", "analyst:codebook", "analyst:named_codebook", "analyst:new_codebook", "analyst:coders",
    "analyst:disagreements", "analyst:disagreement", "analyst:quotes", "analyst:quote",
)  # fmt: skip
_REVIEWS = ("analyst:review", "analyst:sessions", "analyst:session_answers")
_SCHEMAS = ("organiser:schema", "organiser:schema_impact", "organiser:schema_publish", "organiser:schema_preview")

_ORGANISER: Final = (
    SidebarSection(title="Home", icon="home", pages=(("organiser:home", "Home"),)),
    SidebarSection(
        title="Study",
        icon="adjustments",
        pages=(
            ("organiser:editions", "Published versions"),
            ("organiser:edit_study", "Edit study"),
            ("organiser:questions", "Questions"),
            ("organiser:schemas", "Schemas"),
            ("organiser:criteria", "Criteria"),
        ),
        inner=("organiser:question", *_SCHEMAS),
    ),
    SidebarSection(
        title="Applications",
        icon="server",
        pages=(("organiser:submissions", "Applications"),),
        inner=("organiser:submission", "organiser:try_submission"),
    ),
    SidebarSection(
        title="People",
        icon="users",
        pages=(
            ("organiser:people", "People"),
            ("organiser:links", "Recruiting links"),
            ("organiser:slots", "Time slots"),
        ),
        inner=("organiser:person", "organiser:access_codes"),
    ),
    SidebarSection(
        title="Event",
        icon="calendar-event",
        pages=(("organiser:operations", "Dashboard"), ("organiser:messages", "Messages")),
    ),
    SidebarSection(
        title="Dialogues",
        icon="messages",
        pages=(("senior:dialogues", "Dialogues"), ("organiser:import_dialogues", "Import dialogues")),
        inner=("senior:batch",),
    ),
    SidebarSection(
        title="Results",
        icon="report-analytics",
        pages=(
            ("organiser:results", "Results"),
            ("organiser:runs", "Runs"),
            ("analyst:home", "Testers' answers"),
            ("analyst:coding", "Coding"),
            ("analyst:reviews", "Combined review"),
            ("organiser:blinding", "Blinding"),
            ("organiser:series", "Series"),
            ("organiser:exchange", "Export and import"),
        ),
        inner=(*_CODING, *_REVIEWS, "organiser:identifiers", "organiser:start_run", "organiser:check_run"),
    ),
    SidebarSection(
        title="Settings",
        icon="settings",
        pages=(
            ("organiser:ethics", "Ethics approval"),
            ("organiser:factors", "Second factors"),
            ("organiser:keys", "API keys"),
            ("organiser:webhooks", "Webhooks"),
            ("organiser:audit", "Audit log"),
        ),
    ),
)

_SENIOR: Final = (
    SidebarSection(
        title="Home", icon="home", pages=(("senior:home", "Home"),), inner=("senior:resolution", "senior:check")
    ),
    SidebarSection(
        title="Dialogues", icon="messages", pages=(("senior:dialogues", "Dialogues"),), inner=("senior:batch",)
    ),
    SidebarSection(
        title="Agreement", icon="chart-dots", pages=(("senior:agreement", "Agreement"),), inner=("senior:raters",)
    ),
    SidebarSection(title="Annotators", icon="users", pages=(("senior:people", "Annotators"),)),
    SidebarSection(title="Judges", icon="scale", pages=(("senior:judges", "Judges"),)),
    SidebarSection(title="Gold items", icon="star", pages=(("senior:gold", "Gold items"),)),
    SidebarSection(
        title="Sensitive content", icon="shield-check", pages=(("senior:cases", "Sensitive content"),),
        inner=("senior:case",),
    ),
    SidebarSection(title="Questions", icon="help-circle", pages=(("senior:questions", "Questions"),)),
    SidebarSection(
        title="Study",
        icon="adjustments",
        pages=(("organiser:schemas", "Schemas"), ("organiser:criteria", "Criteria")),
        inner=_SCHEMAS,
    ),
    SidebarSection(
        title="Responses",
        icon="forms",
        pages=(
            ("analyst:home", "Testers' answers"),
            ("analyst:coding", "Coding"),
            ("analyst:reviews", "Combined review"),
        ),
        inner=(*_CODING, *_REVIEWS),
    ),
)  # fmt: skip

_ANALYST: Final = (
    SidebarSection(title="Results", icon="report-analytics", pages=(("organiser:results", "Results"),)),
    SidebarSection(
        title="Runs",
        icon="player-play",
        pages=(("organiser:runs", "Runs"),),
        inner=("organiser:start_run", "organiser:check_run"),
    ),
    SidebarSection(title="Responses", icon="forms", pages=(("analyst:home", "Testers' answers"),)),
    SidebarSection(title="Coding", icon="tag", pages=(("analyst:coding", "Coding"),), inner=_CODING),
    SidebarSection(title="Reviews", icon="scale", pages=(("analyst:reviews", "Combined review"),), inner=_REVIEWS),
    SidebarSection(title="Blinding", icon="eye-off", pages=(("organiser:blinding", "Blinding"),)),
    SidebarSection(title="Series", icon="calendar-event", pages=(("organiser:series", "Series"),)),
    SidebarSection(title="Export", icon="file-export", pages=(("organiser:exchange", "Export and import"),)),
)

_ANNOTATOR: Final = (
    SidebarSection(
        title="Annotate",
        icon="clipboard-check",
        pages=(("annotator:home", "Annotate"),),
        inner=("annotator:practice", "annotator:qualify", "annotator:result", "annotator:room"),
    ),
    SidebarSection(title="Content opt-outs", icon="eye-off", pages=(("annotator:topics", "Content opt-outs"),)),
    SidebarSection(title="About you", icon="user", pages=(("annotator:about", "About you"),)),
)

_TEAM: Final = (
    SidebarSection(
        title="Home",
        icon="home",
        pages=(("teams:home", "Home"),),
        inner=("teams:submission", "teams:edit", "teams:new"),
    ),
    SidebarSection(title="Criteria", icon="list-check", pages=(("teams:criteria", "Criteria"),)),
    SidebarSection(title="Feedback", icon="messages", pages=(("teams:feedback", "Feedback"),)),
)

SECTIONS: Mapping[Role, Sequence[SidebarSection]] = {
    Role.ORGANISER: _ORGANISER,
    Role.SENIOR: _SENIOR,
    Role.ANALYST: _ANALYST,
    Role.ANNOTATOR: _ANNOTATOR,
    Role.TEAM: _TEAM,
}
"""The sidebar of each role. Testers have none; their pages follow each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SidebarLink:
    """A link of the sidebar or a tab.

    Attributes:
        title: Its text.
        address: Its target.
        icon: Name of its icon; empty for none.
        is_current: Whether it leads to the page, or to its section.
        waiting: The amount of work that waits there, e.g. `3` or `99+`; empty for none.
    """

    title: str
    address: str
    icon: str = ""
    is_current: bool = False
    waiting: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlace:
    """Position of a page: the sidebar, the section, and the tabs of the section.

    Attributes:
        sidebar: The entries of the role that its pages open.
        section: The entry that covers the page; None for pages outside all sections.
        tabs: The pages of the section, if there are at least two.
        is_section_page: Whether the page is the first of its section.
        role: Name of the role that opened the page.
        is_for_testers: Whether a tester opened the page; testers have no sidebar.
    """

    sidebar: tuple[SidebarLink, ...] = ()
    section: SidebarLink | None = None
    tabs: tuple[SidebarLink, ...] = ()
    is_section_page: bool = False
    role: str = ""
    is_for_testers: bool = False


@register.simple_tag(takes_context=True)
def place_of_page(context: Mapping[str, Any]) -> PagePlace:
    """Return the position of the page for the role that opened it."""
    access, request = context.get("access"), context.get("request")
    match = getattr(request, "resolver_match", None)
    if not isinstance(access, AccessContext) or match is None:
        return PagePlace()
    if access.role not in SECTIONS:
        return PagePlace(is_for_testers=True)
    study = access.hosted.token
    known = [
        (sidebar_section, _open_pages(sidebar_section, access.role, study)) for sidebar_section in SECTIONS[access.role]
    ]
    waiting = _waiting(access)
    links: list[SidebarLink] = []
    section: SidebarLink | None = None
    tabs: tuple[SidebarLink, ...] = ()
    for one, pages in known:
        if not pages:
            continue
        is_here = section is None and one.covers(match.view_name)
        link = SidebarLink(
            title=one.title,
            address=pages[0][1],
            icon=one.icon,
            is_current=is_here,
            waiting=amount_text(waiting.get(pages[0][2], 0)),
        )
        links.append(link)
        if is_here:
            section = link
            tabs = tuple(
                SidebarLink(title=title, address=at, is_current=name == match.view_name) for title, at, name in pages
            )
    return PagePlace(
        sidebar=tuple(links),
        section=section,
        tabs=tabs if len(tabs) > 1 else (),
        is_section_page=bool(tabs) and tabs[0].is_current,
        role=role_words(access.role.value),
    )


MOST_WAITING = 99
"""Largest number of a badge; count."""


def _waiting(access: AccessContext) -> Mapping[str, int]:
    """Return the amount of work that waits for a role, by the first page of a section; counts of cheap queries."""
    if access.role is Role.ORGANISER:
        to_decide = access.hosted.submissions.filter(state=Submission.State.SUBMITTED)
        return {"organiser:operations": n_open_questions(access.hosted), "organiser:submissions": to_decide.count()}
    queue = queues.queue_named(access.hosted.token) if access.role is Role.SENIOR else ""
    if not queue:
        return {}
    return {
        "senior:home": review.n_unsettled(queue, MOST_WAITING + 1),
        "senior:questions": cases.n_open_threads(queue),
        "senior:cases": cases.n_open_cases(queues.study_name(queue)),
    }


def amount_text(n: int) -> str:
    """Return an amount of waiting work as a badge shows it; empty for none."""
    return f"{MOST_WAITING}+" if n > MOST_WAITING else str(n or "")


@functools.lru_cache(maxsize=512)
def _open_pages(section: SidebarSection, role: Role, study: str) -> tuple[tuple[str, str, str], ...]:
    """Return title, address and name of a section's pages that a role may open."""
    found = []
    for name, title in section.pages:
        try:
            address = reverse(name, args=[study])
        except NoReverseMatch:
            continue
        who: object = getattr(resolve(address).func, "access", frozenset())
        if isinstance(who, frozenset) and role in who:
            found.append((title, address, name))
    return tuple(found)
