"""The bot that organises: approval, edition, people, and the event opened, all on the pages that organisers use."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from html import unescape

from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role
from theodolite.rehearsal.visitor import Visitor
from theodolite.rehearsal.walking import Stuck

ROLE_OF = {Level.RED_TEAMING: Role.RED_TEAMER, Level.FIELD_TESTING: Role.FIELD_TESTER}
"""What people of a level are called on the pages."""

_MOST_SLIPS = 500
_REFUSED = 400
_SLIP = re.compile(r'for a ([^<]+)</p>.*?<p class="code">([^<]+)</p>', re.DOTALL)
_LINK = re.compile(r'<input readonly value="([^"]+)" aria-label="Link for [^"]+"')
_HOME = re.compile(r'href="(/s/[\w-]+/organise/)"')


class OrganiserBot:
    """Whoever opens the event.

    Attributes:
        visitor: Its eyes and hands.
    """

    def __init__(self, visitor: Visitor) -> None:
        """Sit down."""
        self.visitor = visitor
        self._home = ""

    def come_in(self, start: str) -> None:
        """Become the server's first organiser by the link that its terminal shows.

        Raises:
            Stuck: If a page does not do what it should; so do all the others here.
            OSError: If the server cannot be reached; likewise.
        """
        self._open(start)
        self._send("", name="Rehearsal", email="rehearsal@rehearsal.invalid", password=secrets.token_urlsafe(24))
        found = _HOME.search(self._open(f"{self.visitor.base}/"))
        if found is None:
            raise Stuck(self.visitor.page.path, "the study is not there")
        self._home = found[1]

    def prepare(self, day: str) -> None:
        """Record an approval, which says that it is none, and publish the first edition.

        Args:
            day: Today, as `2026-11-22`.
        """
        self._open(f"{self._home}ethics/")
        self._send("", body="A rehearsal: no person takes part", number="none needed", granted=day)
        self._open(f"{self._home}editions/")
        self._send("")

    def ask_in(self, level: Level, n: int) -> tuple[str, Sequence[str]]:
        """Ask the people of a level in, and return the paths by which they come: one link, the others codes.

        Args:
            level: Of testing.
            n: How many; count, at least 1.

        Returns:
            The link of the first person's invitation, and the words on the other slips.
        """
        role = ROLE_OF[level].value
        link = self.invite(ROLE_OF[level])
        for first in range(2, n + 1, _MOST_SLIPS):
            self._open(f"{self._home}people/")
            self._send("/slips/new/", role=role, n=str(min(n + 1 - first, _MOST_SLIPS)), first=str(first))
        slips = _SLIP.findall(self._open(f"{self._home}people/slips/"))
        return link, [words for whose, words in slips if whose.strip() == role]

    def invite(self, role: Role) -> str:
        """Ask one person in, and return the link of the invitation.

        Args:
            role: What the person is to be.
        """
        self._open(f"{self._home}people/")
        page = self._send("/people/ask/", role=role.value, name=f"Bot as {role.value}", email="")
        links = _LINK.findall(page)
        if not links:
            raise Stuck(self.visitor.page.path, "there is no link to hand over")
        return unescape(links[0])

    def open_event(self) -> None:
        """Let testers begin, whatever times the study names: they are for people."""
        if "They hold:" in self._open(f"{self._home}operations/"):
            self._send("/operations/hours/")
        self._send("/operations/go-on/")

    def close_event(self) -> None:
        """Look at the pages of the day once more, and close the event."""
        for page in ("people/", "blinding/", "operations/"):
            self._open(f"{self._home}{page}")
        self._send("/operations/close/")

    def _open(self, path: str) -> str:
        self.visitor.get(path)
        return self._seen()

    def _send(self, ending: str, **fields: str) -> str:
        self.visitor.send(ending, **fields)
        return self._seen()

    def _seen(self) -> str:
        page = self.visitor.page
        if page.status >= _REFUSED:
            faults = " ".join(re.findall(r'class="(?:errorlist|fault)[^>]*>(.*?)</(?:ul|p|div)>', page.text, re.DOTALL))
            said = " ".join(re.sub(r"<[^>]+>", " ", faults).split())
            raise Stuck(page.path, f"status {page.status}{f': {said}' if said else ''}")
        return page.text
