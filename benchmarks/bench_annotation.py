"""How long lists and agreement pages take at 10,000 dialogues, 50 annotators and 200,000 answers.

Usage: python benchmarks/bench_annotation.py [dialogues]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from theodolite.bootstrap.database import configure_django, database_settings

WORKSPACE = Path(tempfile.mkdtemp(prefix="bench-annotation-"))
configure_django(database_settings(WORKSPACE))

from theodolite.bootstrap.database import open_store
from theodolite.domain.application import Application, AriaClass
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question, Scale, ScaleKind
from theodolite.domain.plan import Plan
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.domain.annotating.work import QueueCategory, QueueDesign

N_ANNOTATORS, PASSES, N_QUESTIONS = 50, 2, 10
TEN = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10)
QUESTIONS = tuple(
    Question(name=f"q{number}", text="?", scale=YES_NO if number < 5 else TEN) for number in range(N_QUESTIONS)
)
SAID = {7: " A marigold.", **{place: " A lantern." for place in range(100, 132)}}
"""What is said in some of a thousand dialogues, by their place among them."""

GUIDELINE = Guideline(
    name="risk",
    instrument=Instrument(name="risk", questions=QUESTIONS),
    defect_rules=(DefectRule(name="r", question="q0", operator=Operator.EQUAL, values=("yes",)),),
)
STUDY = Study(
    name="bench",
    applications=(Application(name="bot", connection=AriaClass(target="a:B")),),
    scenarios=(Scenario(name="s"),),
    guidelines=(GUIDELINE,),
)


def filled(n: int):
    """Make a queue of n dialogues with all passes submitted but those of the last tenth."""
    from django.db import transaction

    from theodolite.annotation.records import RecordCache
    from theodolite.store.annotation_queue import add_items, queue_of
    from theodolite.annotation.queues import open_queue
    from theodolite.store.contents import Contents
    from theodolite.store.ledger import database_now
    from theodolite.store.models import AnnotationRow, AnswerRow, DialogueRow, RunRow, TurnRow, UnitRow
    from theodolite.store.models.annotating import ReservationRow, WorkItemRow
    from theodolite.store.models.runs import ParticipantRow

    store = open_store(WORKSPACE)
    store.open_run(STUDY, Plan(run_fingerprint=digest("s"), seed=1, flow_version=1, n_sessions=n))
    records, run, now, rng = (
        RecordCache(Contents(WORKSPACE / "blobs")),
        RunRow.objects.get(),
        database_now(),
        random.Random(1),
    )
    process = AnnotationProcess(passes=PASSES, pass_mark=0.0)
    design = QueueDesign(
        study="bench", categories=(QueueCategory(name="risk", version=version_of(GUIDELINE)),), process=process
    )
    queue = open_queue(records, "bench", STUDY, design)
    with transaction.atomic():
        units = UnitRow.objects.bulk_create(
            [
                UnitRow(
                    run=run,
                    key=digest("u", str(i)),
                    kind="session",
                    work_key=digest("w", str(i)),
                    position=i,
                    label=f"d{i}",
                    application="bot",
                    state="done",
                )
                for i in range(n)
            ],
            batch_size=500,
        )
        dialogues = DialogueRow.objects.bulk_create(
            [
                DialogueRow(
                    unit=u,
                    label=u.label,
                    application="bot",
                    application_version=digest("a"),
                    scenario="s",
                    scenario_version=digest("s"),
                    level="model testing",
                    held_by="script",
                    pair_key=digest(u.key),
                    cluster="c",
                    ending="script ended",
                    created=now,
                )
                for u in units
            ],
            batch_size=500,
        )
        TurnRow.objects.bulk_create(
            [
                TurnRow(dialogue=d, number=1, prompt="Hi." + SAID.get(i % 1000, ""), response="Yes. " * 60)
                for i, d in enumerate(dialogues)
            ],
            batch_size=500,
        )
        people = ParticipantRow.objects.bulk_create([ParticipantRow(key=f"p-{k:02}") for k in range(N_ANNOTATORS)])
        for start in range(0, n, 500):
            add_items(queue_of(queue), design, dialogues[start : start + 500], ["risk"])
        items = list(WorkItemRow.objects.order_by("id"))
        done = items[: n * 9 // 10]
        annotations, claims = [], []
        for place, item in enumerate(done):
            for k, person in enumerate(rng.sample(people, PASSES)):
                annotations.append(
                    AnnotationRow(
                        dialogue_id=item.dialogue_id,
                        annotator=person.key,
                        annotator_version=digest(person.key),
                        guideline="risk",
                        instrument_version=version_of(GUIDELINE),
                        created=now,
                    )
                )
                claims.append(
                    ReservationRow(
                        token=f"t{place}-{k}",
                        item=item,
                        participant=person,
                        state="submitted",
                        place=k + 1,
                        of=PASSES,
                        revision=1,
                        created=now,
                        submitted=now + timedelta(seconds=place),
                    )
                )
        annotations = AnnotationRow.objects.bulk_create(annotations, batch_size=500)
        for claim, annotation in zip(claims, annotations, strict=True):
            claim.annotation = annotation
        ReservationRow.objects.bulk_create(claims, batch_size=500)
        truth = {item.dialogue_id: rng.random() for item in done}
        rows = []
        for annotation in annotations:
            for number in range(N_QUESTIONS):
                level = truth[annotation.dialogue_id] + rng.gauss(0, 0.15)
                value = ("yes" if level > 0.8 else "no") if number < 5 else str(min(10, max(1, round(level * 10))))
                rows.append(
                    AnswerRow(
                        annotation=annotation, position=number, question=f"q{number}", outcome="answered", value=value
                    )
                )
        AnswerRow.objects.bulk_create(rows, batch_size=500)
        WorkItemRow.objects.filter(id__in=[item.id for item in done]).update(live=PASSES, done=PASSES, state="complete")
        for item in done[::3]:
            item.live, item.done, item.state, item.disputed = PASSES, PASSES, "complete", rng.randint(1, 9)
        WorkItemRow.objects.bulk_update(done[::3], ["live", "done", "state", "disputed"], batch_size=300)
    return records, queue, len(rows)


def timed(name: str, work) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    took = []
    with CaptureQueriesContext(connection) as queries:
        work()
        n_queries = len(queries)
    for _ in range(3):
        clock, cpu = time.perf_counter(), time.process_time()
        work()
        took.append((time.process_time() - cpu, time.perf_counter() - clock))
    cpu, clock = sorted(took)[1]
    print(f"| {name} | {cpu * 1000:.0f} | {clock * 1000:.0f} | {n_queries} |")


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 11_112
    records, queue, n_answers = filled(n)
    print(f"{n} dialogues, {N_ANNOTATORS} annotators, {n_answers} answers\n")
    print("| | CPU ms | clock ms | queries |\n|---|---|---|---|")
    of_annotators(records, queue)
    of_lists(records, queue)
    of_figures(records, queue)
    of_many(records, queue)


def of_annotators(records, queue) -> None:
    from theodolite.annotation.agreement import progress
    from theodolite.annotation.review import disputed_items
    from theodolite.annotation.assignment import last_ones, n_left, next_work

    timed("next work", lambda: next_work(records, queue, "p-03"))
    timed("what is left", lambda: n_left(records, queue, "p-03"))
    timed("last ones", lambda: last_ones(queue, "p-03"))
    timed("list of discrepancies, page 1", lambda: disputed_items(records, queue, "s"))
    timed("list of discrepancies, page 60", lambda: disputed_items(records, queue, "s", page=60))
    timed("progress", lambda: progress(queue))


def of_lists(records, queue) -> None:
    """The list of dialogues: count, counts by stage, and one page of 50."""
    from theodolite.domain.annotating.case import DialogueFilter, ItemStage
    from theodolite.annotation.listing import Listing, groups_in, levels_in, scenarios_in

    def shown(page: int = 0, **sought: object) -> None:
        found = Listing.of(records, queue, DialogueFilter(**sought))
        found.count(), found.stages(), found.page(records, reader="s", page=page)

    timed("list of dialogues, page 1", shown)
    timed("list of dialogues, page 200", lambda: shown(200))
    timed("... disputed ones", lambda: shown(stage=ItemStage.DISPUTED))
    timed("... of one annotator", lambda: shown(annotator="p-03"))
    everything = {"scenario": "s", "category": "risk", "disputed": True, "annotator": "p-03"}
    timed("... with five filters", lambda: shown(stage=ItemStage.DISPUTED, **everything))
    timed("... with words that stand in 11", lambda: shown(words="marigold"))
    timed("... with words that stand in 350", lambda: shown(words="lantern"))
    timed("what its filters offer", lambda: (scenarios_in(queue), levels_in(queue), groups_in(queue)))


def of_figures(records, queue) -> None:
    from theodolite.annotation.records import RecordCache
    from theodolite.annotation.agreement import agreement
    from theodolite.annotation.agreement import question_figures
    from theodolite.annotation.quality import from_above, to_review

    def warm(records) -> None:
        agreement(records, queue, "risk")
        from_above(records, queue)
        to_review(records, queue)

    timed("what a server works out when it begins, while nobody waits", lambda: warm(RecordCache(records.contents)))
    warm(records)
    timed("agreement page (10 questions), first look after that", lambda: agreement(records, queue, "risk"))
    timed("raters of one question", lambda: question_figures(records, queue, "risk", "q0").raters())
    timed("most divided dialogues", lambda: question_figures(records, queue, "risk", "q0").divided())
    timed("planner", lambda: question_figures(records, queue, "risk", "q7").plan(0.2))
    timed("annotators from above", lambda: from_above(records, queue))
    timed(
        "agreement page while the server has not come so far",
        lambda: agreement(RecordCache(records.contents), queue, "risk"),
    )


def of_many(records, queue) -> None:
    from theodolite.annotation.bulk import put_first, undo_first
    from theodolite.annotation.bulk import offer_many, undo_offers
    from theodolite.store.models.annotating import WorkItemRow

    items = list(WorkItemRow.objects.order_by("id").values_list("token", flat=True))

    def offered() -> None:
        made = [line.made for line in offer_many(records, queue, items, "p-04", by="s") if line.made]
        undo_offers(queue, made, by="s")

    timed("all dialogues offered to one annotator, and taken back", offered)
    timed("all put first, and taken back", lambda: (put_first(queue, items), undo_first(queue, items)))


if __name__ == "__main__":
    main()
