"""The bots that annotate: a senior one opens the queue and lets them in, and looks on while they answer."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from theodolite.bootstrap.page_checks import Form, PageAnswer
from theodolite.domain.event import Role
from theodolite.rehearsal.organising import OrganiserBot
from theodolite.rehearsal.visitor import Visitor
from theodolite.rehearsal.walking import WRITTEN, Stuck

MOST_SITTINGS = 8
"""Dialogues that one bot annotates by one category each, at most; count."""

_ROUNDS = 8
_TRIES = 8
_REFUSED = 400
_INCOMPLETE = 422
_WHY = "A rehearsal: bots pass no test."


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """What bots brought to the queue.

    Attributes:
        bots: Annotators; count.
        sittings: Dialogues that were annotated by one category; count.
    """

    bots: int = 0
    sittings: int = 0


def let_annotate(
    organiser: OrganiserBot, sit_down: Callable[[str], Visitor], passes: int, told: Callable[[str], None]
) -> Annotated:
    """Ask a senior annotator and as many annotators in as a dialogue needs, and let them work.

    Args:
        organiser: Who asks them in.
        sit_down: Returns a visitor for a kind of person, whose pages it names.
        passes: Annotators that each dialogue needs; count.
        told: Told what kept a bot from going on.

    Raises:
        Stuck: If the organiser or the senior could not go on.
        OSError: If the server cannot be reached.
    """
    senior = SeniorBot(sit_down("senior"))
    senior.come_in(organiser.invite(Role.SENIOR))
    senior.open_queue()
    bots = []
    for seat in range(1, max(passes, 1) + 1):
        bots.append(AnnotatorBot(sit_down("annotator"), seat))
        bots[-1].come_in(organiser.invite(Role.ANNOTATOR))
        bots[-1].read()
    if any(bot.is_tested for bot in bots):
        senior.let_in()
    _work(bots, told)
    senior.look_round()
    return Annotated(bots=len(bots), sittings=sum(bot.sittings for bot in bots))


def _work(bots: Sequence[AnnotatorBot], told: Callable[[str], None]) -> None:
    """Let bots take turns until nothing waits for any of them: what one submits opens work for others."""
    able = list(bots)
    for _ in range(_ROUNDS):
        before = sum(bot.sittings for bot in bots)
        for bot in tuple(able):
            try:
                bot.work()
            except Stuck as stuck:
                told(str(stuck))
                able.remove(bot)
        if sum(bot.sittings for bot in bots) == before:
            return


class _Somebody:
    """A bot with an account.

    Attributes:
        visitor: Its eyes and hands.
    """

    def __init__(self, visitor: Visitor, group: str) -> None:
        self.visitor, self.home = visitor, ""
        self._group = group

    def come_in(self, link: str) -> None:
        """Follow an invitation and find the first page.

        Raises:
            Stuck: If there is no way in.
        """
        self.visitor.get(link)
        address = f"bot-{secrets.token_hex(4)}@rehearsal.invalid"
        self.visitor.send("", name=f"Bot {self._group}", email=address, password=secrets.token_urlsafe(24))
        page = self.open("/")
        if f"/{self._group}/" in page.path:
            self.home = page.path
            return
        found = re.search(rf'href="(/s/[\w-]+/{self._group}/)"', page.text)
        if found is None:
            raise Stuck(page.path, "the study is not there")
        self.home = found[1]

    def open(self, path: str) -> PageAnswer:
        """Open a page.

        Raises:
            Stuck: If it is refused.
        """
        return self.seen(self.visitor.get(path))

    def seen(self, page: PageAnswer) -> PageAnswer:
        """Return a page that was not refused."""
        if page.status >= _REFUSED and page.status != _INCOMPLETE:
            raise Stuck(page.path, f"status {page.status}")
        return page


class SeniorBot(_Somebody):
    """Whoever opens the queue and looks on."""

    def __init__(self, visitor: Visitor) -> None:
        """Sit down."""
        super().__init__(visitor, "review")

    def open_queue(self) -> None:
        """Bring what was held into the queue.

        Raises:
            Stuck: If that is not done.
        """
        self.open(self.home)
        page = self.seen(self.visitor.send("/fill/"))
        refused = re.search(r"Not done: ([^<]*)", page.text)
        if refused:
            raise Stuck(page.path, refused[1].strip())

    def let_in(self) -> None:
        """Let everybody into every category without its test, with the reason that this is a rehearsal."""
        form = self.open(f"{self.home}people/").form("/admit/")
        choices = form.choices if form else {}
        for who in choices.get("who", []):
            for category in choices.get("category", []):
                self.open(f"{self.home}people/")
                self.seen(self.visitor.send("/admit/", who=who, category=category, reason=_WHY))

    def look_round(self) -> None:
        """Open the pages of the day: progress, people, and the first dialogue that was not answered alike."""
        for page in ("agreement/", "people/", "questions/"):
            self.open(f"{self.home}{page}")
        disputed = next((link for link in self.open(self.home).links if "/item/" in link), "")
        if disputed:
            self.open(disputed)


class AnnotatorBot(_Somebody):
    """One annotator.

    Attributes:
        sittings: What it has submitted; count.
        is_tested: Whether a test stands before the queue.
    """

    def __init__(self, visitor: Visitor, seat: int) -> None:
        """Take a seat; its number decides what the bot answers."""
        super().__init__(visitor, "annotate")
        self.sittings, self.is_tested = 0, False
        self._chance = random.Random(f"annotator {seat}")  # noqa: S311 - answers of a bot, no secrets

    def read(self) -> None:
        """Say that background and rules were read, practise, and see whether a test is asked for."""
        for subject in ("background", "rules"):
            if self.open(self.home).form(f"/read/{subject}/"):
                self.seen(self.visitor.send(f"/read/{subject}/"))
        self._practise()
        page = self.open(self.home)
        self.is_tested = "can let you in" in page.text or any("/annotate/test/" in link for link in page.links)

    def _practise(self) -> None:
        """Go through the examples of every category, whatever is right.

        Raises:
            Stuck: If the answers to an example are not taken.
        """
        links = [link for link in self.open(self.home).links if "/practice/" in link]
        for link in links:
            page = self.open(link)
            while "/practice/" in page.path:
                page = self._example()

    def _example(self) -> PageAnswer:
        """Answer the example that is open until it leads on; return the page that follows."""
        where, given = self.visitor.page.path, dict[str, str]()
        for _ in range(_TRIES):
            form = self.visitor.page.form(where)
            if form is None:
                break
            given = self._answers(form, given)
            page = self.seen(self.visitor.send(where, submit="yes", **given))
            if page.path != where:
                return page
        raise Stuck(where, "the answers to an example were not taken")

    def work(self) -> None:
        """Take what waits and submit it, until nothing waits or it is enough.

        Raises:
            Stuck: If answers are not taken.
        """
        while self.sittings < MOST_SITTINGS and self.open(self.home).form("/next/"):
            page = self.seen(self.visitor.send("/next/"))
            if page.path.endswith("/topics/"):  # asked first what it would rather not meet: nothing
                self.seen(self.visitor.send(""))
                page = self.seen(self.visitor.send("/next/"))
            if "/annotate/d/" not in page.path:
                return
            self._sit()

    def _sit(self) -> None:
        where, given = self.visitor.page.path, dict[str, str]()
        for _ in range(_TRIES):
            form = self.visitor.page.form("/submit/")
            if form is None:
                break
            given = self._answers(form, given)
            page = self.seen(self.visitor.send("/submit/", **given))
            if not page.path.endswith("/submit/"):
                self.sittings += 1
                return
        raise Stuck(where, "the answers were not taken")

    def _answers(self, form: Form, given: dict[str, str]) -> dict[str, str]:
        """Return an answer to every question that is asked, the earlier ones unchanged."""
        chosen = {name: self._chance.choice(values) for name, values in form.choices.items()}
        asked = {**dict.fromkeys(form.texts, WRITTEN), **chosen}
        return {name: given.get(name, value) for name, value in asked.items() if name.startswith("a:")}
