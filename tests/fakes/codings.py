"""Testers who wrote something in their own words, and two people who coded it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from tests.fakes.responses import STUDY, evidence, response, said
from theodolite.domain.coding import (
    Code,
    Codebook,
    Coding,
    CodingResolution,
    CodingWork,
    GivenCodes,
    OpenAnswer,
    ReleasedAnswer,
    books_by_version,
)
from theodolite.domain.dialogue import Level
from theodolite.domain.identity import digest, version_of
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.persona import Attempt, AttemptOutcome, Strategy
from theodolite.domain.session import Session, SessionState
from theodolite.events.coding import CodingIndex, CodingLine
from theodolite.testing.people import scenario_sight

BOOK = Codebook(
    study=STUDY.name,
    codes=(Code(name="vague", definition="Says nothing definite."), Code(name="cold", definition="Unkind in tone.")),
    by="c1",
)

VERSION = version_of(BOOK)

TEXTS = {"p": "It never said yes or no.", "q": "Rude!", "r": "Fine.", "s": "It dodged, rudely.", "t": "Hm."}


def wrote(person, application="blue", **facts):
    return response(person, application, 3, more=(said("open", TEXTS[person]),), **facts)


def about(person, application="blue"):
    return OpenAnswer(session=f"{person}-{application}", questionnaire="after", question="open")


def coding(person, coder, *codes, **facts):
    return Coding(answer=about(person), coder=coder, codes=codes, codebook=VERSION, **facts)


CODINGS = (
    *(coding("p", coder, "vague") for coder in ("c1", "c2")),
    *(coding("q", coder, "cold") for coder in ("c1", "c2")),
    *(coding("r", coder) for coder in ("c1", "c2")),
    coding("s", "c1", "vague", "cold"),
    coding("s", "c2", "cold"),
    coding("t", "c1", "vague"),
)

WORK = CodingWork(
    codebooks=books_by_version([BOOK]),
    codings=CODINGS,
    quotes=(ReleasedAnswer(answer=about("q"), text="Rude!"),),
)

CONSENSUS = CodingResolution(answer=about("s"), codebook=VERSION, codes=("cold",), participants=("c1", "c2"))


def index_of(project):
    """Return the index of a project that was read with its texts."""
    work = project.work
    resolved = {one.answer: GivenCodes("", one.codebook, one.codes) for one in work.resolutions}
    checked = {one.answer: one.is_given for one in work.releases}
    given = defaultdict(list)
    for one in work.codings:
        given[one.answer].append(GivenCodes(one.coder, one.codebook, tuple(sorted(one.codes))))
    return CodingIndex(
        lines=tuple(
            CodingLine(
                text.answer.session,
                text.answer.questionnaire,
                text.answer.question,
                tuple(given[text.answer]),
                resolved.get(text.answer),
                checked.get(text.answer),
            )
            for text in project.texts
        ),
        work=CodingWork(codebooks=work.codebooks, away=work.away),
    )


def coded_evidence(work=WORK, **facts):
    return replace(evidence(*(wrote(person, **facts) for person in TEXTS)), coding=work)


TRIED = Strategy(
    name="role_play",
    dialogue="d",
    attempts=(
        Attempt(description="as a nurse", outcome=AttemptOutcome.WITHHELD, turn=1),
        Attempt(description="in rhyme", outcome=AttemptOutcome.RELEASED, turn=2, refines=1),
    ),
)

WORDS = "role play: as a nurse (withheld); in rhyme (released, refining try 1)"


def noted(study, person="p", state=SessionState.COMPLETE, application=0, strategies=(TRIED,), number=1, **facts):
    """Return a dialogue of a red teamer with what was noted in it."""
    app, scenario = study.applications[application], study.scenarios[0]
    session = Session(
        key=digest(person, app.name),
        study=study.name,
        study_version=version_of(study),
        run="r",
        participant=person,
        level=Level.RED_TEAMING,
        scenario=scenario.name,
        scenario_version=scenario_sight(scenario),
        application=app.name,
        application_version=study.application_version(app.name),
        slot=0,
        place=application,
        state=state,
    )
    return LiveDialogueSummary(
        key=digest(session.key, str(number)),
        session=session,
        number=number,
        ordinal=number,
        strategies=strategies,
        unit=f"unit {number}",
        **facts,
    )
