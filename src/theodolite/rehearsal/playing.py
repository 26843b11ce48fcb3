"""The play: bots come in by invitation, hold every session, and what they leave is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from theodolite.assessment.unblinding import secrets_for_annotators, secrets_for_testers
from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.page_checks import Lookout
from theodolite.bootstrap.permission import require_code_permission, require_key_permission
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.reports import write_reports
from theodolite.bootstrap.study_context import open_study
from theodolite.config.events import missing_texts
from theodolite.config.loading import load_study
from theodolite.domain.choices import UserType
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.event import AnnotationProcess, LevelPlan
from theodolite.domain.run import FailureSource
from theodolite.domain.study import Study
from theodolite.rehearsal.annotating import Annotated, let_annotate
from theodolite.rehearsal.counting import CellTally, Trouble, tally, troubles_of
from theodolite.rehearsal.gallery import Gallery, browser, draw
from theodolite.rehearsal.organising import ROLE_OF, OrganiserBot
from theodolite.rehearsal.scratch import Scratch, ScratchServer, lay_out_scratch
from theodolite.rehearsal.visitor import HttpVisitor
from theodolite.rehearsal.walking import Part, Stuck, TesterBot
from theodolite.testing.assigning import people_levels, planned_slots

AT_ONCE = 16
"""Bots that test at the same moment at most; count."""

LOST = (Stuck, NotFound, OSError, HTTPException)
"""What ends a bot's walk: no way on, a form that is not there, a server that is gone."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What a rehearsal brought.

    Attributes:
        people: Bots by level; count.
        through: Bots that came to the end of the event; count.
        sheets: Questionnaires that were handed in; count.
        annotators: Bots that annotated; count, 0 where the study names no schema to annotate by.
        sittings: Dialogues that they annotated by one category each; count.
        pages: Pages that the server gave; count.
        cells: What was held, by level and application.
        troubles: What did not go as it should.
        took_s: How long the event took, from the first invitation to the close; seconds.
        results: The measurement, as a file; empty where there was nothing to measure.
        folder: Where pages and pictures are.
        pictures: Pages that were drawn; count, None where no browser is there to draw.
        missing: Texts for participants that the study lacks; the real event does not open without them.
    """

    people: dict[str, int]
    through: int
    sheets: int
    annotators: int
    sittings: int
    pages: int
    cells: tuple[CellTally, ...]
    troubles: tuple[Trouble, ...]
    took_s: float
    results: str
    folder: str
    pictures: int | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    bots: Sequence[TesterBot]
    annotated: Annotated
    troubles: Sequence[Trouble]
    took_s: float
    files: tuple[Path, ...]


def rehearse(
    study: str, *, out: str, people: int | None = None, with_pictures: bool = True, tell: Tell = lambda _: None
) -> Rehearsed:
    """Let bots play the event of a study, on a copy in a folder of its own.

    Args:
        study: A folder with a study file, or the file.
        out: Where the copy, the pages and the results go.
        people: Bots of each level in place of all whom the study plans; count.
        with_pictures: Whether pages are drawn, where a browser is there.
        tell: Told in lines what goes on.

    Raises:
        StudyError: If the study holds faults; says all of them.
        InputError: If nobody takes part in the study, the folder holds something else, or code or keys were not
            allowed.
        RunStopped: If the server does not start.
    """
    loaded = load_study(Path(study), resolver=resource_resolver())
    require_code_permission(loaded)
    require_key_permission(loaded, os.environ)
    plans = people_levels(loaded.study)
    if not plans:
        message = (
            f"nobody takes part in `{loaded.study.name}`, so there is nothing to rehearse. "
            "Say who does, e.g.  levels: {red_teaming: {people: 4, sessions: 2, minutes: 30}}"
        )
        raise InputError(message)
    secrets = secrets_for_testers(loaded.study)
    lookouts = {_eyes(plan.level): Lookout(ROLE_OF[plan.level].value, secrets) for plan in plans}
    bots = (f"Bot as {role.value}" for role in ROLE_OF.values())
    lookouts["annotator"] = Lookout("annotator", secrets_for_annotators(loaded.study, people=bots), hears=True)
    scratch, gallery = lay_out_scratch(loaded, Path(out)), Gallery(lookouts)
    seats = [(plan, min(people or plan.people, plan.people)) for plan in plans]
    tell(f"{sum(n for _, n in seats)} bots on a copy of the study; its real workspace is not touched.")
    played = _play(scratch, seats, gallery, loaded.study)
    tell("Measuring what they left.")
    cells, troubles, results = _measured(scratch)
    program = browser() if with_pictures else ""
    return Rehearsed(
        people={plan.level.value: n for plan, n in seats},
        through=sum(bot.is_through for bot in played.bots),
        sheets=sum(bot.sheets for bot in played.bots),
        annotators=played.annotated.bots,
        sittings=played.annotated.sittings,
        pages=gallery.n_pages,
        cells=cells,
        troubles=(*troubles, *played.troubles, *_unblinding(lookouts.values())),
        took_s=played.took_s,
        results=results,
        folder=str(scratch.pages),
        pictures=draw(played.files, program) if program else None,
        missing=tuple(lack.what for lack in missing_texts(loaded.study)),
    )


def _screening(study: Study) -> tuple[bool, ...]:
    return tuple(one.wanted for one in study.event.screening) if study.event else ()


def part_of(plan: LevelPlan, seat: int, screening: tuple[bool, ...]) -> Part:
    """Return whom the bot on a seat plays, so that every quota is filled.

    Args:
        plan: The level.
        seat: Number of the seat, from 1.
        screening: Answers that let in.
    """
    stratum = planned_slots(plan)[seat - 1].stratum
    rest = next((kind.value for kind in UserType if kind.value not in plan.quotas), "")
    return Part(screening=screening, user_type=(stratum or rest) if plan.quotas else "")


def _play(scratch: Scratch, seats: Sequence[tuple[LevelPlan, int]], gallery: Gallery, study: Study) -> _Played:
    began = time.monotonic()
    bots: list[tuple[TesterBot, str]] = []
    troubles: list[Trouble] = []
    annotated = Annotated()
    with ScratchServer(scratch) as server:
        organiser = OrganiserBot(HttpVisitor(server.base, gallery.seen_by("organiser")))
        try:
            organiser.come_in(server.start)
            organiser.prepare(SystemClock().now().date().isoformat())
            doors = [(plan, *organiser.ask_in(plan.level, n)) for plan, n in seats]
            organiser.open_event()
            for plan, link, codes in doors:
                eyes = gallery.seen_by(_eyes(plan.level))
                for seat, door in enumerate([link, *(f"/code/{code}/" for code in codes)], 1):
                    part = part_of(plan, seat, _screening(study))
                    bots.append(
                        (TesterBot(HttpVisitor(server.base, eyes), plan.level, seat, plan.sessions, part), door)
                    )
            with ThreadPoolExecutor(max_workers=AT_ONCE) as room:
                troubles += filter(None, room.map(lambda bot: _walked(*bot), bots))
            annotated = _annotated(organiser, server.base, gallery, study, troubles)
            organiser.close_event()
        except LOST as stuck:
            troubles.append(Trouble(party=FailureSource.MACHINERY, who="organiser", what=str(stuck)))
        took_s = time.monotonic() - began
        reader = HttpVisitor(server.base)
        files = gallery.hang(scratch.pages, lambda address: reader.get(address).text)
    return _Played(bots=[bot for bot, _ in bots], annotated=annotated, troubles=troubles, took_s=took_s, files=files)


def _annotated(
    organiser: OrganiserBot, base: str, gallery: Gallery, study: Study, troubles: list[Trouble]
) -> Annotated:
    """Let bots annotate what was held, where the study says by which schema; without one nobody does."""
    if study.schema() is None:
        return Annotated()
    passes = (study.annotation or AnnotationProcess()).passes

    def tell(why: str) -> None:
        troubles.append(Trouble(party=FailureSource.MACHINERY, who="annotator", what=why))

    return let_annotate(organiser, lambda who: HttpVisitor(base, gallery.seen_by(who)), passes, tell)


def _eyes(level: Level) -> str:
    """Return what begins the names of the pages that bots of a level saw."""
    return ROLE_OF[level].value.replace(" ", "-")


def _unblinding(lookouts: Iterable[Lookout]) -> Iterator[Trouble]:
    """Yield what stood on pages that would tell who answers."""
    for leak in (leak for lookout in lookouts for leak in lookout.leaks):
        told = leak.told
        what = f"tells {told.secret.what}, `{told.secret.words}`: {told.excerpt}"
        yield Trouble(party=FailureSource.MACHINERY, who=f"page {leak.page} of a {leak.role}", what=what)


def _walked(bot: TesterBot, door: str) -> Trouble | None:
    """Let a bot come in and walk to the end; return what kept it from that."""
    visitor, who = bot.visitor, ROLE_OF[bot.level].value
    try:
        visitor.get(door)
        if door.startswith("/code/"):
            visitor.send("/code/", code=door.split("/")[2])
        else:
            visitor.send("", name=f"Bot as {who}")
        visitor.get("/")
        bot.walk()
    except LOST as stuck:
        return Trouble(party=FailureSource.MACHINERY, who=who, what=str(stuck))
    return None


def _measured(scratch: Scratch) -> tuple[tuple[CellTally, ...], tuple[Trouble, ...], str]:
    context = open_study(str(scratch.file), environ={})
    try:
        cells, troubles = tally(context), tuple(troubles_of(context))
        if not any(cell.dialogues for cell in cells):
            return cells, troubles, ""
        evidence = context.evidence()
        written = write_reports(context, evidence, context.findings(evidence), out=str(scratch.folder))
        return cells, troubles, written.results
    finally:
        context.close()
