"""People of the seeded events and the queue that they annotate, loaded from shipped files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from theodolite.annotation import assignment, cases, quality, review, submission
from theodolite.annotation.cases import suspect
from theodolite.annotation.quality import BACKGROUND, RULES
from theodolite.annotation.queues import add_dialogues, designed, open_queue, queue_named
from theodolite.annotation.rules import IMPARTIALITY_RULES
from theodolite.bootstrap.database import open_store
from theodolite.bootstrap.web_settings import KIT_CLASS
from theodolite.config.load_context import shipped, shipped_bytes
from theodolite.config.loading import load_study
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.config.yaml_source import read_yaml, typed
from theodolite.domain.annotating.case import Flag, FlagKind
from theodolite.domain.annotating.discrepancy import Anchor, AnchorKind
from theodolite.domain.annotating.work import QueueDesign
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.application import GuardrailSite
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.errors import InputError
from theodolite.domain.event import AnnotationProcess, Role
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import OpenQuestion
from theodolite.domain.run import Run, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.events.sessions import allocate, save_avoided_topics
from theodolite.ports.store import Store
from theodolite.store.models.annotating import ReservationRow
from theodolite.testing.assigning import people_levels
from theodolite.testing.planning import draw_plan
from theodolite.web.accounts.invitations import invite, join
from theodolite.web.annotator.home import records
from theodolite.web.events import TESTERS, event_of, host_study, last_edition, publish, study_in_files
from theodolite.web.models import (
    Account,
    EthicsApproval,
    HostedStudy,
    Membership,
    RecruitLink,
    Screening,
    Submission,
    TimeSlot,
)
from theodolite.web.participants import book
from theodolite.web.teams.submissions import programme_terms
from theodolite.web.tester.context import screening_version

FILE = "demo/people.yaml"
"""The participants, among the shipped resources."""


@cache
def people_file() -> Mapping[str, Any]:
    """Return the content of the shipped file."""
    content: Mapping[str, Any] = typed(read_yaml(shipped_bytes(FILE) or b"", FILE).content)
    return content


def demo_account(slug: str, name: str, *, is_host: bool = False) -> Account:
    """Return the account of a seeded person; it is created if it does not exist yet."""
    result = account_of(slug)
    return result or Account.objects.create_user(address_of(slug), name=name, is_host=is_host)


def account_of(slug: str) -> Account | None:
    """Return the account of a seeded person; None if there is no such person."""
    return Account.objects.filter(email=address_of(slug)).first()


def address_of(slug: str) -> str:
    """Return the address of a seeded person, in a domain that cannot exist."""
    return f"{slug}@demo.invalid"


def load_members(folder: str) -> HostedStudy:
    """Host the first event and give it one member for each role, an approval, submissions and screened testers.

    Args:
        folder: Folder of the event's study.
    """
    names = {Role(role): str(name) for role, name in people_file()["people"].items()}
    people = {role: demo_account(slugify(role), name, is_host=role is Role.ORGANISER) for role, name in names.items()}
    hosted = host_study(folder, people[Role.ORGANISER])
    with transaction.atomic():
        for role, account in people.items():
            Membership.objects.get_or_create(account=account, hosted=hosted, role=role)
        HostedStudy.objects.filter(pk=hosted.pk).update(state=HostedStudy.State.OPEN)
        _load_submissions(hosted)
        load_approval(hosted)
        _pass_screening(hosted)
    return hosted


def load_edition(hosted: HostedStudy, by: Account) -> None:
    """Publish the study if it was not published, and date the publication before its first session.

    The entry of the audit log keeps its own time, because entries are never changed.
    """
    if last_edition(hosted) is None:
        publish(hosted, by, version_of(study_in_files(hosted).study))
        hosted.editions.update(made_at=timezone.now() - _PUBLISHED_AGO)


_PUBLISHED_AGO = timedelta(days=5)
"""Time since the publication of the study."""


def load_approval(hosted: HostedStudy) -> None:
    """Record a placeholder approval that states that it is one."""
    content = people_file()["approval"]
    defaults = {"number": content["number"], "granted": date.fromisoformat(content["granted"])}
    EthicsApproval.objects.get_or_create(hosted=hosted, body=content["body"], defaults=defaults)


def _pass_screening(hosted: HostedStudy) -> None:
    """Let the testers of the event pass the screening, so that one click leads visitors to the task."""
    version = screening_version(study_in_files(hosted).study)
    for tester in hosted.memberships.filter(role__in=[role.value for role in TESTERS]):
        Screening.objects.get_or_create(membership=tester, defaults={"version": version, "passed": True})


def _load_submissions(hosted: HostedStudy) -> None:
    """Give the team of an event one application to check and submit, and one that organisers may decide about."""
    team = Membership.objects.filter(hosted=hosted, role=Role.TEAM.value).first()
    if team is None or Submission.objects.filter(hosted=hosted).exists():
        return
    content = people_file()["submissions"]
    facts = {
        "way": Submission.Way.INSTALLED,
        "target": KIT_CLASS,
        "guardrails": GuardrailSite.NONE.value,
        **content["said"],
    }
    Submission.objects.create(hosted=hosted, team=team, name=content["draft"], **facts)
    version = programme_terms(hosted).version
    agreed = {"agreed_by": content["agreed_by"], "agreed_at": timezone.now(), "agreed_version": version}
    state = Submission.State.SUBMITTED
    Submission.objects.create(hosted=hosted, team=team, name=content["submitted"], state=state, **agreed, **facts)


@transaction.atomic
def load_gate(hosted: HostedStudy) -> None:
    """Create time slots, a link, an invitation, and screened people; an existing slot stays open."""
    now, content = timezone.now(), people_file()
    first = content["slots"]["open"]
    if hosted.time_slots.filter(where=first["where"]).update(ends=now + timedelta(hours=first["ends"])):
        return
    organiser = hosted.memberships.get(role=Role.ORGANISER.value).account
    slots = {name: _slot(hosted, organiser, slot, now) for name, slot in content["slots"].items()}
    link = content["link"]
    RecruitLink.objects.create(hosted=hosted, kind=RecruitLink.Kind.OPEN, name=link["name"], most=link["most"])
    book(organiser, hosted.memberships.get(role=Role.FIELD_TESTER.value), slots["open"].token, now)
    for one in content["gate"].values():
        if "screened" not in one:
            invite(organiser, hosted, Role.RED_TEAMER, name=one["name"])
            continue
        tester = _screened(hosted, one["name"], passed=one["screened"] == "yes")
        if "slot" in one:
            book(organiser, tester, slots[one["slot"]].token, now)


def _slot(hosted: HostedStudy, organiser: Account, content: Mapping[str, Any], now: datetime) -> TimeSlot:
    start = now
    if content.get("from") == "tomorrow":
        start = now.replace(hour=9, minute=0, second=0, microsecond=0) + timedelta(days=1)
    begins, ends = (start + timedelta(hours=content[end]) for end in ("begins", "ends"))
    role, places, where = Role.FIELD_TESTER.value, content["places"], content["where"]
    return TimeSlot.objects.create(
        hosted=hosted, role=role, begins=begins, ends=ends, places=places, where=where, made_by=organiser
    )


def _screened(hosted: HostedStudy, name: str, *, passed: bool) -> Membership:
    """Return a tester who joined some days ago, and has not continued since."""
    tester = join(Account.objects.create_user(name=name), hosted, Role.FIELD_TESTER)
    Membership.objects.filter(pk=tester.pk).update(joined_at=timezone.now() - timedelta(days=2, hours=3))
    version = screening_version(study_in_files(hosted).study)
    Screening.objects.create(membership=tester, version=version, passed=passed)
    return tester


def load_kitchen(folder: Path) -> None:
    """Create the second event unless it exists, with two testers who have chosen and one who joins now.

    Args:
        folder: Folder of its study.
    """
    content = people_file()["kitchen"]
    accounts = {slug: demo_account(slug, one["name"]) for slug, one in content["doors"].items()}
    hosted = host_study(str(folder), accounts[content["organiser"]])
    if hosted.state == HostedStudy.State.OPEN:
        return
    load_approval(hosted)
    load_edition(hosted, accounts[content["organiser"]])
    join(accounts[content["newcomer"]], hosted, Role.FIELD_TESTER)
    for name, topics in content["chosen"].items():
        tester = join(Account.objects.create_user(name=name), hosted, Role.FIELD_TESTER)
        _allocate(hosted, tester.participant, tuple(topics))
    HostedStudy.objects.filter(pk=hosted.pk).update(state=HostedStudy.State.OPEN)


def _allocate(hosted: HostedStudy, participant: str, topics: tuple[str, ...]) -> None:
    """Store the opt-outs of a tester, and allocate the most suitable slot."""
    event = event_of(hosted)
    save_avoided_topics(event.participants, event.study, participant, topics, now=event.clock.now())
    for plan in people_levels(event.study):
        allocate(event, participant, plan.level)


FOLDER = "demo/annotation"
"""Folder of the study and the dialogues among the shipped resources."""


READING = (
    "Orrery Bay is an invented series. People asked two assistants about it; the reference says what may be told. "
    "You will read what was said and answer questions about it, dialogue by dialogue."
)


def load_queue(hosted: HostedStudy) -> None:
    """Store the invented dialogues and open a queue of them, if there is none; must not run in a transaction."""
    if queue_named(hosted.token):
        return
    study = invented_study()
    keys = keep_dialogues(study)
    queue = open_queue(records(), hosted.token, study, design_of(study), by="server")
    suspect(records(), queue, keys)
    add_dialogues(records(), queue, keys)
    for member in Membership.objects.filter(hosted=hosted, role=Role.ANNOTATOR.value):
        let_begin(queue, member.participant)


def let_begin(queue: str, participant: str) -> None:
    """Complete an invented annotator's onboarding: texts read, every example practised on."""
    for subject in (BACKGROUND, RULES):
        quality.acknowledge(records(), queue, participant, subject)
    for category in quality.onboarding(records(), queue, participant).categories:
        for example in category.to_practise:
            quality.go_through(records(), queue, participant, category.category, example)


def invented_study() -> Study:
    """Return the study of the invented dialogues."""
    return load_study(Path(str(shipped(FOLDER)))).study


def keep_dialogues(study: Study, content: Sequence[dict[str, Any]] | None = None, *, first: int = 0) -> list[str]:
    """Store invented dialogues under a run of their study and return their keys.

    Args:
        study: Study of the invented dialogues.
        content: Dialogues; those that wait for annotators by default.
        first: Number of the first one.
    """
    store = open_store(settings.WORKSPACE or Path(WORKSPACE_NAME), settings.DATABASE_URL)
    try:
        return asyncio.run(
            _complete(store, study, invented("dialogues.yaml")["dialogues"] if content is None else content, first)
        )
    finally:
        store.disconnect()


def design_of(study: Study) -> QueueDesign:
    """Return the questions of the seeded queue: the first category decides on all others, or the second alone."""
    first, *others = study.guidelines
    names = tuple(guideline.name for guideline in others)
    return QueueDesign(
        study=study.name,
        categories=designed(study.guidelines),
        process=AnnotationProcess(passes=2, quality_check=0.2, pass_mark=0.0),
        first=first.name,
        on_violation=names,
        otherwise=names[:1],
        background=READING,
        rules=IMPARTIALITY_RULES,
    )


async def _complete(store: Store, study: Study, content: Sequence[dict[str, Any]], first: int) -> list[str]:
    """Store the dialogues under a run of the study and return their keys."""
    await store.start()
    try:
        run = store.open_run(study, draw_plan(study, ())[0])
        dialogues = [_dialogue(run, study, number, each) for number, each in enumerate(content, first)]
        units = [_unit(dialogue, number) for number, dialogue in enumerate(dialogues, first)]
        store.add_units(run, units)
        for unit, dialogue in zip(units, dialogues, strict=True):
            await store.keep_dialogue(unit, dialogue, journalled=False)
        return [dialogue.key for dialogue in dialogues]
    finally:
        await store.stop()


def invented(name: str) -> dict[str, Any]:
    """Return the content of a shipped file of the seeded event."""
    content: dict[str, Any] = typed(read_yaml(shipped_bytes(f"{FOLDER}/{name}") or b"", name).content)
    return content


def _dialogue(run: Run, study: Study, number: int, content: dict[str, Any]) -> Dialogue:
    application, turns = str(content["application"]), content["turns"]
    scenario = study.scenarios[0]
    made = Dialogue(
        key=digest(run.key, "demo", str(number)),
        label=f"{application}/e{number + 1}",
        application=application,
        application_version=digest("demo", application),
        scenario=scenario.name,
        scenario_version=version_of(scenario),
        level=Level(str(content["level"])),
        held_by=TesterType.SCRIPT,
        pair_key=digest("demo", str(number)),
        cluster=f"demo {number}",
        turns=(),
        ending=Ending.SCRIPT_END,
    )
    return replace(made, turns=tuple(_turn(index, *pair) for index, pair in enumerate(turns, start=1)))


def _turn(number: int, prompt: str, response: str) -> Turn:
    return Turn(number=number, prompt=prompt, response=response)


def _unit(dialogue: Dialogue, number: int) -> Unit:
    return Unit(
        key=dialogue.key,
        kind=UnitKind.SESSION,
        work_key=digest("demo", dialogue.key),
        position=1000 + number,
        label=dialogue.label,
        application=dialogue.application,
    )


FIRST = 100
"""Number of the first of these dialogues: after all that wait for annotators."""


def load_review(hosted: HostedStudy) -> None:
    """Store answers, flags and questions of two invented annotators; must not run in a transaction."""
    content = invented("finished.yaml")
    if account_of(content["annotators"][0].lower()) is not None:
        return
    queue = queue_named(hosted.token)
    keys = keep_dialogues(invented_study(), content["dialogues"], first=FIRST)
    suspect(records(), queue, keys)
    add_dialogues(records(), queue, keys)
    people = {name: _annotator(hosted, queue, name) for name in content["annotators"]}
    claims = {
        (number, category, name): _answered(queue, people[name], key, category, values)
        for number, (key, dialogue) in enumerate(zip(keys, content["dialogues"], strict=True), start=1)
        for category, answers in dialogue["answers"].items()
        for name, values in answers.items()
    }
    for number, dialogue in enumerate(content["dialogues"], start=1):
        own = [claim for (of, _, _), claim in claims.items() if of == number]
        _submitted_earlier(own, days=dialogue.get("ago", 0))
    for flag in content["flags"]:
        claim = claims[flag["dialogue"], flag["category"], flag["by"]]
        raised = Flag(kind=FlagKind(flag["kind"]), turn=flag["turn"], note=flag["note"])
        cases.flag(claim, people[flag["by"]], raised)
    for thread in content["threads"]:
        _ask(queue, people[thread["by"]], claims[thread["dialogue"], thread["category"], thread["by"]], thread)
    senior = Membership.objects.get(hosted=hosted, role=Role.SENIOR.value).participant
    review.open_room(records(), queue, keys[content["room"]["dialogue"] - 1], content["room"]["category"], by=senior)


def _submitted_earlier(claims: Sequence[str], *, days: int) -> None:
    """Move submissions of annotations to earlier days, so that pages over several days show data."""
    if days:
        ReservationRow.objects.filter(token__in=claims).update(submitted=timezone.now() - timedelta(days=days))


def _annotator(hosted: HostedStudy, queue: str, name: str) -> str:
    """Create an annotator with completed onboarding; return their key."""
    with transaction.atomic():
        account = Account.objects.create_user(address_of(name.lower()), name=name)
        member = Membership.objects.create(account=account, hosted=hosted, role=Role.ANNOTATOR.value)
        let_begin(queue, member.participant)
    return member.participant


def _ask(queue: str, participant: str, claim: str, thread: dict[str, Any]) -> None:
    anchor = Anchor(
        kind=AnchorKind.TURN,
        category=thread["category"],
        question=thread["question"],
        turn=thread["turn"],
        reservation=claim,
    )
    cases.begin_thread(records(), queue, participant, anchor, thread["text"])


def _answered(queue: str, participant: str, dialogue: str, category: str, values: dict[str, Any]) -> str:
    """Take one item, answer all of it and submit it; return the token of the reservation."""
    assignment.offer(queue, [(dialogue, category)], participant)
    work = assignment.next_work(records(), queue, participant, category=category)
    if work is None:
        message = f"the demonstration offered {category} of {dialogue} to somebody who cannot take it"
        raise InputError(message)
    task = submission.task(records(), work.token, participant)
    while task.open:
        _give(work.token, participant, task.open, values)
        task = submission.task(records(), work.token, participant)
    submission.submit(records(), work.token, participant)
    return work.token


def _give(claim: str, participant: str, left: Sequence[OpenQuestion], values: dict[str, Any]) -> None:
    for place in left:
        value = values[place.question] if place.turn is None else values[place.question][place.turn - 1]
        answer = Answer(question=place.question, outcome=Outcome.ANSWERED, value=str(value), turn=place.turn)
        submission.save_answer(claim, participant, answer)
