"""Server time of the pages of each role at 10,000 dialogues of testers and 200,000 answers.

python benchmarks/bench_pages.py [DIALOGUES] [FOLDER]

The seeded demo event is filled up in SQLite, in a new folder; a folder that a run has filled is measured as it is.
Each page is requested by Django's test client: once after the warm-up of the server, then three times; the median
of the latter counts. Between the first request and the second, the server computes the pages that are open, as it
does every minute.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from threading import Event

import django

from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.config.permissions import workspace_for
from theodolite.demo.studies import lay_out_event

os.environ["DJANGO_SETTINGS_MODULE"] = "theodolite.bootstrap.settings"
django.setup()

FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(prefix="bench-pages-"))
IS_FILLED = (FOLDER / ".theodolite").exists()
if not IS_FILLED:
    FOLDER.mkdir(exist_ok=True)
    lay_out_event(FOLDER)
WORKSPACE = workspace_for(FOLDER)
DATABASE = database_settings(WORKSPACE)
configure_django(DATABASE)

from theodolite.bootstrap.migration import migrate

migrate(WORKSPACE, DATABASE, whole=True)

from django.conf import settings

settings.WORKSPACE = WORKSPACE

from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from theodolite.demo.event import seed
from theodolite.domain.coding import TRIED, Codebook, books_by_version
from theodolite.domain.event import Role
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import QuestionLevel
from theodolite.store.annotation_queue import add_items
from theodolite.store.ledger import database_now
from theodolite.store.models import AnnotationRow, AnswerRow, DialogueRow, RunRow, TurnRow, UnitRow
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow
from theodolite.store.models.events import (
    CodingCodeRow,
    CodingResolutionRow,
    CodingRow,
    CodingTalkerRow,
    GuessRow,
    LiveAttemptRow,
    LiveDialogueRow,
    LiveTurnRow,
    ResponseAnswerRow,
    ResponseRow,
    SessionRow,
)
from theodolite.store.models.runs import ParticipantRow
from theodolite.web.analyst.responses import refresh_large_pages
from theodolite.web.annotator.home import records
from theodolite.web.events import event_of, server_store
from theodolite.web.models import Account, HostedStudy

RISK, COMBINED_RISK = "risk-assessment", "unwanted-plot"
N_ANNOTATORS, PASSES, PER_TESTER = 50, 2, 20
ANSWERS = 200_000
BATCH = 400


def filled(n: int) -> int:
    """Add n dialogues of testers, annotated by two people each, to the event; return the answers, count."""
    event, rng, now = HostedStudy.objects.get(name="varn-event"), random.Random(1), database_now()
    queue, run = QueueRow.objects.get(name=event.token), RunRow.objects.filter(study="varn-event").latest("id")
    design = records().design(queue.design_id)
    model, session_0 = DialogueRow.objects.filter(unit__run=run).first(), SessionRow.objects.first()
    start = now - timedelta(days=20)
    with transaction.atomic():
        testers = people("tester", n // PER_TESTER)
        annotators = people("annotator", N_ANNOTATORS)
        sessions = SessionRow.objects.bulk_create(
            [
                copied(
                    session_0,
                    key=digest("s", str(i)),
                    participant=testers[i // PER_TESTER],
                    slot=1000 + i // PER_TESTER,
                    place=i % PER_TESTER,
                    state="complete",
                    started=start + timedelta(minutes=2 * i),
                    ended=start + timedelta(minutes=2 * i + 20),
                    paused=None,
                )
                for i in range(n)
            ],
            batch_size=BATCH,
        )
        units = UnitRow.objects.bulk_create(
            [
                UnitRow(
                    run=run,
                    key=digest("u", str(i)),
                    kind="session",
                    work_key=digest("w", str(i)),
                    position=10**6 + i,
                    label=f"x{i}",
                    application=session_0.application,
                    state="done",
                )
                for i in range(n)
            ],
            batch_size=BATCH,
        )
        lives = LiveDialogueRow.objects.bulk_create(
            [
                LiveDialogueRow(
                    key=digest("l", str(i)),
                    session=session,
                    study=session.study,
                    number=1,
                    ordinal=10**6 + i,
                    ending="tester left",
                    unit=units[i],
                )
                for i, session in enumerate(sessions)
            ],
            batch_size=BATCH,
        )
        LiveTurnRow.objects.bulk_create(
            [
                LiveTurnRow(
                    key=digest("t", str(i), str(k)),
                    dialogue=live,
                    number=k,
                    prompt="Who wins?",
                    asked=sessions[i].started,
                    response="I cannot say. " * 20,
                    state="complete",
                    latency_s=1.0,
                    cost_microusd=90,
                )
                for i, live in enumerate(lives)
                for k in (1, 2, 3)
            ],
            batch_size=BATCH,
        )
        responded(sessions)
        noted(lives)
        coded(event, sessions)
        dialogues = DialogueRow.objects.bulk_create(
            [
                copied(model, unit=unit, label=unit.label, pair_key=digest(unit.key), cluster=f"c{i}")
                for i, unit in enumerate(units)
            ],
            batch_size=BATCH,
        )
        TurnRow.objects.bulk_create(
            [
                TurnRow(dialogue=one, number=k, prompt="Who wins?", response="I cannot say. " * 20)
                for one in dialogues
                for k in (1, 2, 3)
            ],
            batch_size=BATCH,
        )
    n_answers = 0
    for category in design.categories:
        if n_answers < ANSWERS:
            n_answers += annotated(queue, design, category, dialogues, annotators, rng)
    comparable(event)
    reviewed(event, sessions)
    event.memberships.filter(role=Role.FIELD_TESTER.value).update(participant=testers[0].key)
    return n_answers


def comparable(event: HostedStudy) -> None:
    """Let the queue and its first category be those of the event, so that analysts can read its sessions and risks."""
    guideline = event_of(event).study.guideline(RISK)
    first = AnnotationRow.objects.filter(annotator__startswith="bench-").order_by("id")[0].guideline
    named = AnnotationRow.objects.filter(annotator__startswith="bench-", guideline=first)
    AnswerRow.objects.filter(annotation__in=named, question="released", turn=1).update(turn=None)
    named.update(guideline=guideline.name, instrument_version=version_of(guideline))
    QueueRow.objects.filter(name=event.token).update(study=event.name)


def responded(sessions: list[SessionRow]) -> None:
    """Copy a submitted response to every session, and a guess about the application to every second one."""
    first = sessions[0]
    like = ResponseRow.objects.filter(
        submitted=True,
        session__application=first.application,
        session__scenario=first.scenario,
        session__level=first.level,
    ).first()
    given = list(ResponseAnswerRow.objects.filter(response=like)) if like else []
    responses = ResponseRow.objects.bulk_create(
        [copied(like, session=session) for session in sessions] if like else [], batch_size=BATCH
    )
    ResponseAnswerRow.objects.bulk_create(
        [copied(answer, response=response) for response in responses for answer in given], batch_size=BATCH
    )
    hurt = ResponseAnswerRow.objects.filter(response__in=[one.pk for one in responses[::10]], question="regret")
    hurt.update(value="6", number=6)
    guess = GuessRow.objects.first()
    GuessRow.objects.bulk_create(
        [copied(guess, session=session) for session in sessions[::2]] if guess else [], batch_size=BATCH
    )
    print(f"{len(responses)} responses of testers, {len(responses) * len(given)} answers in them")


def noted(lives: list[LiveDialogueRow]) -> None:
    """Let the tester of every fourth dialogue note a strategy."""
    LiveAttemptRow.objects.bulk_create(
        [
            LiveAttemptRow(
                dialogue=live, place=0, name="role_play", number=1, description="Pretended to be the author."
            )
            for live in lives[::4]
        ],
        batch_size=BATCH,
    )


def coded(event: HostedStudy, sessions: list[SessionRow]) -> None:
    """Let two people code nine tenths of the answers and notes, a fifth of them differently, and discuss some."""
    store, coders = server_store(), [member(event, role) for role in (Role.ANALYST, Role.SENIOR)]
    books = books_by_version(store.filed(Codebook, Codebook.subject(event.name)))
    versions = {book.name: (version, book.names) for version, book in books.items()}
    general, ways = versions[""], next(one for name, one in versions.items() if name)
    answer = ResponseRow.objects.filter(session=sessions[0]).get().questionnaire, "open"
    given = [(one, *answer, *general) for one in sessions[: len(sessions) * 9 // 10]]
    given += [(one, TRIED.name, "tried", *ways) for one in sessions[: len(sessions) * 9 // 10 : 4]]
    facts = {"revision": 1, "created": database_now()}
    codings = CodingRow.objects.bulk_create(
        [
            CodingRow(session=one, questionnaire=name, question=asked, slot=k, coder=coder, codebook=book, **facts)
            for one, name, asked, book, _ in given
            for k, coder in enumerate(coders, start=1)
        ],
        batch_size=BATCH,
    )
    rng = random.Random(2)
    codes = [rng.sample(given[at // 2][4], 1 + (at % 4 == 0)) for at in range(0, len(codings), 2)]
    CodingCodeRow.objects.bulk_create(
        [
            CodingCodeRow(coding=coding, position=position, code=code)
            for at, coding in enumerate(codings)
            for position, code in enumerate(codes[at // 2] if at % 10 else [given[at // 2][4][0]])
        ],
        batch_size=BATCH,
    )
    resolutions = CodingResolutionRow.objects.bulk_create(
        [
            CodingResolutionRow(
                session=one, questionnaire=name, question=asked, codebook=book, is_agreed=False, rationale="-", **facts
            )
            for one, name, asked, book, _ in given[::10]
        ],
        batch_size=BATCH,
    )
    CodingTalkerRow.objects.bulk_create(
        [CodingTalkerRow(resolution=one, participant=coder) for one in resolutions for coder in coders],
        batch_size=BATCH,
    )
    print(f"{len(given)} open answers coded twice, {len(resolutions)} of them discussed")


def reviewed(event: HostedStudy, sessions: list[SessionRow]) -> None:
    """Let the analyst review every tenth session of the first thousand; this is not part of a transaction."""
    reviewer, store = member(event, Role.ANALYST).key, server_store()
    for session in sessions[:1000:10]:
        facts = {"study": event.name, "risk": COMBINED_RISK, "session": session.key, "rationale": "Read."}
        review = CombinedReview(**facts, materialised=session.place % 4 == 0, reviewer=reviewer)
        store.file(CombinedReview.subject(event.name), review)


def member(event: HostedStudy, role: Role) -> ParticipantRow:
    """Return the row of the person of a role."""
    return ParticipantRow.objects.get_or_create(key=event.memberships.get(role=role.value).participant)[0]


def annotated(queue, design, category, dialogues, annotators, rng) -> int:
    """Let two people annotate nine tenths of the dialogues in a category; return the answers, count."""
    guideline, now = records().guideline(category.version), database_now()
    start = now - timedelta(days=19)
    with transaction.atomic():
        known = set(WorkItemRow.objects.values_list("id", flat=True))
        for at in range(0, len(dialogues), 500):
            add_items(queue, design, dialogues[at : at + 500], [category.name])
        new = [item for item in WorkItemRow.objects.order_by("id") if item.id not in known]
        done, annotations, claims = new[: len(new) * 9 // 10], [], []
        for number, item in enumerate(done):
            for k, person in enumerate(rng.sample(annotators, PASSES)):
                annotations.append(
                    AnnotationRow(
                        dialogue_id=item.dialogue_id,
                        annotator=person.key,
                        annotator_version=digest(person.key),
                        guideline=category.name,
                        instrument_version=version_of(guideline),
                        created=now,
                    )
                )
                claims.append(
                    ReservationRow(
                        token=f"{category.name[:9]}{number}-{k}",
                        item=item,
                        participant=person,
                        state="submitted",
                        place=k + 1,
                        of=PASSES,
                        revision=1,
                        created=now,
                        submitted=start + timedelta(minutes=2 * number),
                    )
                )
        annotations = AnnotationRow.objects.bulk_create(annotations, batch_size=BATCH)
        for claim, annotation in zip(claims, annotations, strict=True):
            claim.annotation = annotation
        ReservationRow.objects.bulk_create(claims, batch_size=BATCH)
        n_answers = answers_of(annotations, guideline, rng)
        WorkItemRow.objects.filter(id__in=[item.id for item in done]).update(live=PASSES, done=PASSES, state="complete")
        WorkItemRow.objects.filter(id__in=[item.id for item in done[::9]]).update(disputed=3)
    return n_answers


def people(kind: str, n: int) -> list[ParticipantRow]:
    return ParticipantRow.objects.bulk_create(
        [ParticipantRow(key=f"bench-{kind}-{k:04}") for k in range(n)], batch_size=BATCH
    )


def copied(row: object, **changes: object) -> object:
    """Return an unsaved copy of a row with some changes."""
    values = {
        field.attname: getattr(row, field.attname) for field in type(row)._meta.concrete_fields if not field.primary_key
    }
    for name in changes:
        values.pop(f"{name}_id", None)
    return type(row)(**{**values, **changes})


def answers_of(annotations, guideline, rng) -> int:
    """Add answers to all questions of the guideline and return how many; count."""
    asked = [
        (question, turn)
        for question in guideline.instrument.questions
        for turn in ((1, 2, 3) if question.level is QuestionLevel.TURN else (None,))
        if question.scale.categories
    ]
    rows = [
        AnswerRow(
            annotation=annotation,
            position=position,
            question=question.name,
            turn=turn,
            outcome="answered",
            value=question.scale.categories[0 if rng.random() < 0.8 else -1],
        )
        for annotation in annotations
        for position, (question, turn) in enumerate(asked)
    ]
    AnswerRow.objects.bulk_create(rows, batch_size=BATCH)
    return len(rows)


PAGES = {
    Role.ORGANISER: (
        *("organise/", "organise/operations/", "organise/operations/?part=live", "organise/people/"),
        *("organise/results/", "organise/audit/", "organise/exchange/", "organise/slots/", "organise/messages/"),
        *("organise/blinding/", "organise/webhooks/", "review/dialogues/"),
    ),
    Role.SENIOR: (
        *("review/", "review/dialogues/", "review/dialogues/?page=100", "review/agreement/", "review/people/"),
        *("review/cases/", "review/judges/", "review/questions/", "review/gold/"),
    ),
    Role.ANNOTATOR: ("annotate/",),
    Role.ANALYST: (
        *(
            "organise/results/?next=yes",
            "analyse/",
            "analyse/sessions/",
            "analyse/sessions/?page=3",
            "analyse/sessions/* >",
        ),
        *(
            "analyse/coding/",
            "analyse/coding/next/",
            "analyse/coding/next/ >",
            "analyse/coding/codebook/",
            "analyse/coding/codebook/new/",
        ),
        *("analyse/coding/coders/", "analyse/coding/disagreements/", "analyse/coding/disagreements/?page=3"),
        *("analyse/coding/disagreements/* >", "analyse/coding/quotes/", "analyse/coding/quotes/?page=100"),
        *("analyse/coding/quotes/* >", "analyse/reviews/", "analyse/reviews/?page=3", "analyse/reviews/* >"),
    ),
    Role.RED_TEAMER: ("test/", "test/help/"),
    Role.FIELD_TESTER: ("test/", "test/my-data/", "test/guess/", "test/done/", "test/help/"),
    Role.TEAM: ("team/", "team/criteria/", "team/feedback/", "team/new/"),
}
"""Addresses of the pages of each role; `* >` stands for the first page that the list before it links,
and ` >` for the page to which the one before it leads."""


def main(n: int) -> None:
    """Print the times of all pages."""
    from theodolite.web.senior.home import warm

    if not IS_FILLED:
        before = time.perf_counter()
        seed(str(FOLDER))
        n_answers = filled(n)
        print(f"{n} dialogues, {n_answers} answers, filled in {time.perf_counter() - before:.0f} s")
    before = time.process_time()
    warm(Event())
    print(f"warm-up of the server: {time.process_time() - before:.1f} s of CPU time; load {os.getloadavg()[0]:.1f}\n")
    print("| role | page | first, CPU ms | CPU ms | clock ms | queries |\n|---|---|---|---|---|---|")
    event = HostedStudy.objects.get(name="varn-event")
    for role, pages in PAGES.items():
        client = Client(SERVER_NAME="localhost")
        client.force_login(Account.objects.filter(memberships__hosted=event, memberships__role=role.value)[0])
        for page in pages:
            address = f"/s/{event.token}/{page}"
            if page.endswith("* >"):
                address = linked(client, address.removesuffix("* >"))
            elif page.endswith(" >"):
                address = client.get(address.removesuffix(" >")).url
            print(f"| {role.value} | `{page}` | {timed(client, address)} |", flush=True)


def linked(client: Client, address: str) -> str:
    """Return the address of the first page below a list that the list links."""
    links = re.findall(r'href="([^"?]+)"', client.get(address).content.decode().split("<main")[1])
    return next(link for link in links if link.startswith(address) and link != address)


def timed(client: Client, address: str) -> str:
    """Return the cells of a page: CPU time of the first request, then medians of three, and queries."""
    cpu, clock, n_queries = [], [], 0
    for number in range(4):
        began, tick = time.process_time(), time.perf_counter()
        with CaptureQueriesContext(connection) as queries:
            response = client.get(address)
        cpu.append(1000 * (time.process_time() - began))
        clock.append(1000 * (time.perf_counter() - tick))
        n_queries = len(queries)
        assert response.status_code in {200, 302}, (address, response.status_code)
        if number == 0:
            refresh_large_pages()
    return f"{cpu[0]:.0f} | {statistics.median(cpu[1:]):.0f} | {statistics.median(clock[1:]):.0f} | {n_queries}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
