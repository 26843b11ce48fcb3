"""A dry run of an event: bots join by invitation, complete every session and annotate; the results are measured."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path

from theodolite.assessment.blinding import secrets_for_annotators, secrets_for_testers
from theodolite.bootstrap.connections import SystemClock
from theodolite.bootstrap.page_checks import Lookout
from theodolite.bootstrap.permission import require_code_permission, require_key_permission
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.reports import write_reports
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.config.events import missing_texts
from theodolite.config.loading import load_study
from theodolite.domain.choices import UserType
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.event import AnnotationProcess, LevelPlan
from theodolite.domain.run import FailureSource
from theodolite.domain.study import Study
from theodolite.dry_run.bots import (
    ROLE_OF,
    AnnotationTotals,
    BotProfile,
    HttpVisitor,
    OrganiserBot,
    Stuck,
    TesterBot,
    run_annotators,
)
from theodolite.dry_run.folder import PageArchive, Scratch, ScratchServer, browser, copy_study, take_screenshots
from theodolite.testing.assigning import people_levels, planned_slots

AT_ONCE = 16
"""Testers at the same time at most; count."""


BOT_ERRORS = (Stuck, NotFound, OSError, HTTPException)
"""Errors that stop a bot: a page that does not lead on, a missing form, an unreachable server."""


Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunResult:
    """The result of a dry run.

    Attributes:
        people: Testers by level; count.
        completed: Testers that completed the event; count.
        questionnaires: Submitted questionnaires; count.
        annotators: Annotators; count, 0 if the study names no annotation schema.
        annotations: Submitted annotations, one category of one dialogue each; count.
        pages: Pages that the server returned; count.
        cells: Sessions and dialogues by level and application.
        problems: Failed steps.
        took_s: Duration of the event, from the first invitation to its close; seconds.
        results: File with the results; empty if there was nothing to measure.
        folder: Folder of saved pages and screenshots.
        pictures: Screenshots; count, None without a browser.
        missing: Texts for participants that the study lacks; the real event does not open without them.
    """

    people: dict[str, int]
    completed: int
    questionnaires: int
    annotators: int
    annotations: int
    pages: int
    cells: tuple[CellTally, ...]
    problems: tuple[Problem, ...]
    took_s: float
    results: str
    folder: str
    pictures: int | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    bots: Sequence[TesterBot]
    totals: AnnotationTotals
    problems: Sequence[Problem]
    took_s: float
    files: tuple[Path, ...]


def run_event(
    study: str, *, out: str, people: int | None = None, with_pictures: bool = True, report: Report = lambda _: None
) -> DryRunResult:
    """Let bots complete the event of a study, on a copy of the study.

    Args:
        study: A folder with a study file, or the file.
        out: Folder of the copy, the pages and the results.
        people: Testers of each level, instead of the planned number; count.
        with_pictures: Whether to take screenshots, if a browser is installed.
        report: Called with lines about the progress.

    Raises:
        StudyError: If the study has errors; lists all of them.
        InputError: If the study has no testers, the folder contains other files, or code or keys are not permitted.
        RunStopped: If the server does not start.
    """
    loaded = load_study(Path(study), resolver=resource_resolver())
    require_code_permission(loaded)
    require_key_permission(loaded, os.environ)
    plans = people_levels(loaded.study)
    if not plans:
        message = (
            f"`{loaded.study.name}` has no levels with people, so a dry run has no testers. "
            "Add people, e.g.  levels: {red_teaming: {people: 4, sessions: 2, minutes: 30}}"
        )
        raise InputError(message)
    secrets = secrets_for_testers(loaded.study)
    scanners = {_file_prefix(plan.level): Lookout(ROLE_OF[plan.level].value, secrets) for plan in plans}
    bots = (f"Bot as {role.value}" for role in ROLE_OF.values())
    scanners["annotator"] = Lookout("annotator", secrets_for_annotators(loaded.study, people=bots), hears=True)
    scratch, archive = copy_study(loaded, Path(out)), PageArchive(scanners)
    slots = [(plan, min(people or plan.people, plan.people)) for plan in plans]
    report(f"{sum(n for _, n in slots)} bots on a copy of the study; its real workspace is not touched.")
    played = _play(scratch, slots, archive, loaded.study)
    report("Measuring the results.")
    cells, problems, results = _measured(scratch)
    program = browser() if with_pictures else ""
    return DryRunResult(
        people={plan.level.value: n for plan, n in slots},
        completed=sum(bot.is_completed for bot in played.bots),
        questionnaires=sum(bot.questionnaires for bot in played.bots),
        annotators=played.totals.bots,
        annotations=played.totals.annotations,
        pages=archive.n_pages,
        cells=cells,
        problems=(*problems, *played.problems, *_unblinding(scanners.values())),
        took_s=played.took_s,
        results=results,
        folder=str(scratch.pages),
        pictures=take_screenshots(played.files, program) if program else None,
        missing=tuple(lack.what for lack in missing_texts(loaded.study)),
    )


def _screening(study: Study) -> tuple[bool, ...]:
    return tuple(item.wanted for item in study.event.screening) if study.event else ()


def profile_of(plan: LevelPlan, slot: int, screening: tuple[bool, ...]) -> BotProfile:
    """Return the answers of the bot in a slot about itself, so that every quota is filled.

    Args:
        plan: The level.
        slot: Number of the slot, from 1.
        screening: Answers that pass the screening.
    """
    stratum = planned_slots(plan)[slot - 1].stratum
    rest = next((kind.value for kind in UserType if kind.value not in plan.quotas), "")
    return BotProfile(screening=screening, user_type=(stratum or rest) if plan.quotas else "")


def _play(scratch: Scratch, slots: Sequence[tuple[LevelPlan, int]], archive: PageArchive, study: Study) -> _Played:
    began = time.monotonic()
    bots: list[tuple[TesterBot, str]] = []
    problems: list[Problem] = []
    totals = AnnotationTotals()
    with ScratchServer(scratch) as server:
        organiser = OrganiserBot(HttpVisitor(server.base, archive.sink_for("organiser")))
        try:
            organiser.come_in(server.start)
            organiser.prepare(SystemClock().now().date().isoformat())
            entries = [(plan, *organiser.invite_level(plan.level, n)) for plan, n in slots]
            organiser.open_event()
            for plan, link, codes in entries:
                sink = archive.sink_for(_file_prefix(plan.level))
                for slot, entry in enumerate([link, *(f"/code/{code}/" for code in codes)], 1):
                    profile = profile_of(plan, slot, _screening(study))
                    bots.append(
                        (TesterBot(HttpVisitor(server.base, sink), plan.level, slot, plan.sessions, profile), entry)
                    )
            with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
                problems += filter(None, pool.map(lambda bot: _run_tester(*bot), bots))
            totals = _annotated(organiser, server.base, archive, study, problems)
            organiser.close_event()
        except BOT_ERRORS as stuck:
            problems.append(Problem(source=FailureSource.MACHINERY, who="organiser", what=str(stuck)))
        took_s = time.monotonic() - began
        reader = HttpVisitor(server.base)
        files = archive.write_pages(scratch.pages, lambda address: reader.get(address).text)
    return _Played(bots=[bot for bot, _ in bots], totals=totals, problems=problems, took_s=took_s, files=files)


def _annotated(
    organiser: OrganiserBot, base: str, archive: PageArchive, study: Study, problems: list[Problem]
) -> AnnotationTotals:
    """Let bots annotate the dialogues, if the study names a schema."""
    if study.schema() is None:
        return AnnotationTotals()
    overlap = (study.annotation or AnnotationProcess()).passes

    def report(why: str) -> None:
        problems.append(Problem(source=FailureSource.MACHINERY, who="annotator", what=why))

    return run_annotators(organiser, lambda who: HttpVisitor(base, archive.sink_for(who)), overlap, report)


def _file_prefix(level: Level) -> str:
    """Return the prefix of the saved pages of a level."""
    return ROLE_OF[level].value.replace(" ", "-")


def _unblinding(scanners: Iterable[Lookout]) -> Iterator[Problem]:
    """Yield the words on pages that break blinding."""
    for leak in (leak for scanner in scanners for leak in scanner.leaks):
        word = leak.revealed
        what = f"reveals {word.secret.what}, `{word.secret.words}`: {word.excerpt}"
        yield Problem(source=FailureSource.MACHINERY, who=f"page {leak.page} of a {leak.role}", what=what)


def _run_tester(bot: TesterBot, entry: str) -> Problem | None:
    """Let a bot join and complete the event; return its problem, if any."""
    visitor, who = bot.visitor, ROLE_OF[bot.level].value
    try:
        visitor.get(entry)
        if entry.startswith("/code/"):
            visitor.send("/code/", code=entry.split("/")[2])
        else:
            visitor.send("", name=f"Bot as {who}")
        visitor.get("/")
        bot.walk()
    except BOT_ERRORS as stuck:
        return Problem(source=FailureSource.MACHINERY, who=who, what=str(stuck))
    return None


def _measured(scratch: Scratch) -> tuple[tuple[CellTally, ...], tuple[Problem, ...], str]:
    context = open_study(str(scratch.file), environ={})
    try:
        cells, problems = tally(context), tuple(problems_of(context))
        if not any(cell.dialogues for cell in cells):
            return cells, problems, ""
        evidence = context.evidence()
        written = write_reports(context, evidence, context.findings(evidence), out=str(scratch.folder))
        return cells, problems, written.results
    finally:
        context.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTally:
    """One application at one level.

    Attributes:
        level: Level of testing.
        application: Its name.
        sessions: Sessions; count.
        dialogues: Dialogues in the measurement; count.
        turns: Prompts; count.
        failed: Prompts without a reply; count.
    """

    level: str
    application: str
    sessions: int = 0
    dialogues: int = 0
    turns: int = 0
    failed: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether the application answered no prompt."""
        return self.turns > 0 and self.failed == self.turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A failed step.

    Attributes:
        source: Source of the failure.
        who: Name of the application, or the role of the bot.
        what: Description of the failure.
        n: Occurrences; count.
    """

    source: FailureSource
    who: str
    what: str
    n: int = 1


def tally(context: StudyContext) -> tuple[CellTally, ...]:
    """Count sessions and dialogues by level and application."""
    store, study = context.store, context.loaded.study
    cells: dict[tuple[str, str], CellTally] = {}
    for session in store.events.sessions.in_study(study.name):
        key = session.level.value, session.application
        cell = cells.get(key, CellTally(level=key[0], application=key[1]))
        dialogues = store.events.dialogues.of_session(session.key)
        turns = [turn for dialogue in dialogues for turn in dialogue.turns]
        cells[key] = replace(
            cell,
            sessions=cell.sessions + 1,
            dialogues=cell.dialogues + sum(bool(dialogue.unit) for dialogue in dialogues),
            turns=cell.turns + len(turns),
            failed=cell.failed + sum(turn.state is TurnState.ERROR for turn in turns),
        )
    return tuple(cells[key] for key in sorted(cells))


def problems_of(context: StudyContext) -> Iterator[Problem]:
    """Yield the failed replies of each application with their counts."""
    store = context.store
    failures: Counter[tuple[str, str]] = Counter()
    for session in store.events.sessions.in_study(context.loaded.study.name):
        for dialogue in store.events.dialogues.of_session(session.key):
            for turn in dialogue.turns:
                if turn.state is TurnState.ERROR:
                    kind = turn.kind.value if turn.kind else "no reply"
                    failures[session.application, f"{kind}: {turn.cause}" if turn.cause else kind] += 1
    for (application, what), n in sorted(failures.items()):
        yield Problem(source=FailureSource.APPLICATION, who=application, what=what, n=n)
