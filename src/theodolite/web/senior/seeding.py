"""Something to review in the seeded event: invented dialogues that two invented people have answered already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from theodolite.annotation import assignment, calibration, cases, submission, threads
from theodolite.annotation.cases import suspect
from theodolite.annotation.queues import add_dialogues
from theodolite.domain.annotating.case import Flag, FlagKind
from theodolite.domain.annotating.thread import Anchor, AnchorKind
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.instrument import OpenQuestion
from theodolite.domain.people.role import Role
from theodolite.store.models.annotating import QueueRow
from theodolite.web.annotator.desk import library
from theodolite.web.annotator.seeding import invented, invented_study, keep_dialogues, let_begin
from theodolite.web.models import Account, HostedStudy, Membership

FIRST = 100
"""Number of the first of these dialogues: behind all that wait for annotators."""


def seed_review(hosted: HostedStudy) -> None:
    """Let two invented annotators have answered, flagged and asked; must not run in a transaction."""
    told = invented("finished.yaml")
    if Account.objects.filter(email=_address(told["annotators"][0])).exists():
        return
    queue = str(QueueRow.objects.get(name=hosted.token).token)
    keys = keep_dialogues(invented_study(), told["dialogues"], first=FIRST)
    suspect(library(), queue, keys)
    add_dialogues(library(), queue, keys)
    people = {name: _annotator(hosted, queue, name) for name in told["annotators"]}
    claims = {
        (number, category, name): _answered(queue, people[name], key, category, values)
        for number, (key, dialogue) in enumerate(zip(keys, told["dialogues"], strict=True), start=1)
        for category, answers in dialogue["answers"].items()
        for name, values in answers.items()
    }
    for flag in told["flags"]:
        claim = claims[flag["dialogue"], flag["category"], flag["by"]]
        raised = Flag(kind=FlagKind(flag["kind"]), turn=flag["turn"], note=flag["note"])
        cases.flag(claim, people[flag["by"]], raised)
    for thread in told["threads"]:
        _ask(queue, people[thread["by"]], claims[thread["dialogue"], thread["category"], thread["by"]], thread)
    senior = Membership.objects.get(hosted=hosted, role=Role.SENIOR.value).participant
    calibration.open_room(library(), queue, keys[told["room"]["dialogue"] - 1], told["room"]["category"], by=senior)


def _address(name: str) -> str:
    return f"{name.lower()}@demo.invalid"


def _annotator(hosted: HostedStudy, queue: str, name: str) -> str:
    """Make an annotator who has gone the way to the queue; return their key."""
    with transaction.atomic():
        account = Account.objects.create_user(_address(name), name=name)
        held = Membership.objects.create(account=account, hosted=hosted, role=Role.ANNOTATOR.value)
        let_begin(queue, held.participant)
    return held.participant


def _ask(queue: str, participant: str, claim: str, thread: dict[str, Any]) -> None:
    anchor = Anchor(
        kind=AnchorKind.TURN,
        category=thread["category"],
        question=thread["question"],
        turn=thread["turn"],
        reservation=claim,
    )
    threads.begin_thread(library(), queue, participant, anchor, thread["text"])


def _answered(queue: str, participant: str, dialogue: str, category: str, values: dict[str, Any]) -> str:
    """Take one item, answer all of it and submit it; return the token of the reservation."""
    assignment.offer(queue, [(dialogue, category)], participant)
    work = assignment.next_work(library(), queue, participant, category=category)
    if work is None:
        message = f"the demonstration offered {category} of {dialogue} to somebody who cannot take it"
        raise InputError(message)
    sitting = submission.sitting(library(), work.token, participant)
    while sitting.open:
        _give(work.token, participant, sitting.open, values)
        sitting = submission.sitting(library(), work.token, participant)
    submission.submit(library(), work.token, participant)
    return work.token


def _give(claim: str, participant: str, left: Sequence[OpenQuestion], values: dict[str, Any]) -> None:
    for place in left:
        said = values[place.question] if place.turn is None else values[place.question][place.turn - 1]
        answer = Answer(question=place.question, outcome=Outcome.ANSWERED, value=str(said), turn=place.turn)
        submission.save_answer(claim, participant, answer)
