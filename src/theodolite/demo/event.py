"""The demo event of `serve --demo`: its studies, testers and one-click accounts, loaded from shipped files."""

from __future__ import annotations

import asyncio
import csv
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import login, logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from theodolite.bootstrap.api import Silent
from theodolite.bootstrap.connections import SystemClock
from theodolite.bootstrap.database import open_store
from theodolite.bootstrap.events import event_study_context, open_event
from theodolite.bootstrap.exchange import import_labels
from theodolite.bootstrap.running import run_study
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.label_imports import ImportColumns
from theodolite.config.load_context import shipped_bytes
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.config.yaml_source import read_yaml, typed
from theodolite.demo.people import (
    account_of,
    load_edition,
    load_gate,
    load_kitchen,
    load_members,
    load_queue,
    load_review,
    people_file,
)
from theodolite.demo.studies import kitchen_of, lay_out_event
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.choices import Impact, UserType
from theodolite.domain.coding import TRIED, Code, Codebook, OpenAnswer
from theodolite.domain.dialogue import Dialogue, Level, TesterType, TurnState
from theodolite.domain.event import PersonProfile, Role
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.flow import Reply
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import Question
from theodolite.domain.live import LiveEnding
from theodolite.domain.persona import Strategy
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.series_review import EntryKind, FeedbackSource, SeriesPart
from theodolite.domain.session import Session
from theodolite.domain.study import Study
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.coding import (
    coding_project,
    notes_in,
    release_quote,
    resolve_disagreement,
    save_codebook,
    save_coding,
)
from theodolite.events.context import EventContext
from theodolite.events.sessions import choose_release, end_session, start_session
from theodolite.execution.clients import Clients
from theodolite.store.django_store import DjangoStore
from theodolite.testing.people import scenario_sight
from theodolite.usecases.measuring import keep_review, reviews_of
from theodolite.usecases.running import RunOptions
from theodolite.usecases.series_review import add_entry, add_feedback, review_of
from theodolite.web.access import open_to_all
from theodolite.web.accounts.invitations import invitation_path
from theodolite.web.events import server_store
from theodolite.web.models import Account, HostedStudy, Invitation, Membership
from theodolite.web.tester.context import Unreadable, with_note
from theodolite.web.urls import urlpatterns as web_addresses


def opening_lines(folder: str) -> tuple[str, ...]:
    """Lay the studies out, load the events, and return the lines for the operator; `{address}` is filled in later.

    Args:
        folder: Target folder of the studies.
    """
    server_store().events.dialogues.interrupt_all()  # no process waits for calls that an earlier process left in flight
    lay_out_event(Path(folder))
    furnish(seed(folder))
    return ("Demo event, one click for each role:  {address}/demo/",)


def seed(folder: str) -> HostedStudy:
    """Create the event with one person for each role, unless it exists.

    Args:
        folder: Folder of the event's study.
    """
    hosted = load_members(folder)
    load_queue(hosted)
    load_testers(hosted)
    return hosted


def furnish(hosted: HostedStudy) -> None:
    """Publish the study; load answers, flags, questions, labels and earlier participants, and the second event."""
    load_edition(hosted, hosted.memberships.get(role=Role.ORGANISER.value).account)
    load_review(hosted)
    load_labels(hosted)
    load_combined_review(hosted)
    load_series_review(hosted)
    load_gate(hosted)
    load_kitchen(kitchen_of(Path(hosted.folder)))


_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@open_to_all
def doors(request: HttpRequest) -> HttpResponse:
    """Offer every person of the event."""
    content = people_file()
    offered = {
        "people": [(slugify(role), role, name) for role, name in content["people"].items()],
        "gate": [(slug, one["says"], one["name"]) for slug, one in content["gate"].items()],
        "kitchen": [(slug, one["says"], one["name"]) for slug, one in content["kitchen"]["doors"].items()],
    }
    return render(request, "web/accounts/demo.html", offered)


@require_POST
def enter(request: HttpRequest, role: str) -> HttpResponse:
    """Sign in as a person of the event; invited people see the invitation."""
    account: Account | None = account_of(role)
    gate = people_file()["gate"]
    if account is None and role in gate:
        name = gate[role]["name"]
        invited = Invitation.objects.filter(name=name, hosted__isnull=False).order_by("pk").first()
        if invited is not None and invited.used_at is None:
            logout(request)
            return redirect(invitation_path(invited))
        came = invited.membership if invited else Membership.objects.filter(account__name=name).order_by("pk").first()
        account = came.account if came else None
    if account is None:
        raise Http404
    login(request, account, backend=_BACKEND)
    return redirect("home")


open_to_all(enter)


urlpatterns = [
    *web_addresses,
    path("demo/", doors, name="demo"),
    path("demo/as/<slug:role>/", enter, name="demo_enter"),
]


FILE = "demo/testers.yaml"
"""Answers of the invented testers, among the shipped resources."""


WAYS = "ways of attack"
"""Name of the codebook for notes of red teamers."""


TALKED = "The tone is ours, not the tester's."
"""Texts of the two coders after they reached agreement."""


BEYOND = 1000
"""First slot of the invented testers: the planned slots stay free for visitors."""


Content = Mapping[str, Any]


_GUIDELINE = "risk-assessment"


_FLAGS = ("released", "withheld")


_COLUMNS = ImportColumns(dialogue="dialogue", annotator="annotator")


def load_testers(hosted: HostedStudy) -> None:
    """Store sessions, answers and codings if there are none; must not run in a transaction."""
    workspace = settings.WORKSPACE or Path(WORKSPACE_NAME)
    store = open_store(workspace, settings.DATABASE_URL)
    try:
        if not store.events.sessions.in_study(hosted.name):
            _load(hosted, open_event(hosted.folder, store, workspace=Path(workspace)).event, store)
    finally:
        store.disconnect()


def _load(hosted: HostedStudy, event: EventContext, store: DjangoStore) -> None:
    content = testers_file()
    testers, names = content["testers"], [one.name for one in event.study.applications]
    clocks = [EarlierClock(_AGO * (len(testers) - number) / len(testers)) for number in range(len(testers))]
    sessions = {
        (number, application): _session_held(
            replace(event, clock=clocks[number]), store, content, tester, number, application
        )
        for number, tester in enumerate(testers)
        for application in names
    }
    for number in range(len(content["testers"])):
        _choose_release(event, content["releases"], number)
    _code(hosted, event, store, content, sessions)


_AGO = timedelta(days=3, hours=8)
"""Time since the first tester joined; the others joined at even intervals since, so that pages over time show data."""


_USD_PER_WORD = 900
"""Invented price of a word of a reply; millionths of a US dollar."""

_TURN = timedelta(minutes=4)
"""Time of a tester for one prompt and its reply."""


class EarlierClock(SystemClock):
    """A clock that runs late, so that an invented tester comes on a day before today."""

    def __init__(self, ago: timedelta) -> None:
        """Set how far it is behind."""
        self._ago = ago

    def now(self) -> datetime:
        """Return the moment that it shows; UTC."""
        return super().now() - self._ago

    def move_on(self, by: timedelta) -> None:
        """Let time pass."""
        self._ago -= by


def _choose_release(event: EventContext, releases: Content, number: int) -> None:
    """Store whether the dialogues of a tester may be published, if the tester has chosen."""
    if number not in releases["open"]:
        choose_release(event, _tester_key(number), included=number not in releases["declined"])


def load_series_review(hosted: HostedStudy) -> None:
    """Store feedback of testers, an assessment, notes of a workshop and decisions if there are none."""
    store, content = server_store(), testers_file()
    if review_of(store, hosted.name):
        return
    for number, part, text in content["feedback"]:
        add_feedback(
            store, hosted.name,
            part=SeriesPart(part), source=FeedbackSource.TESTER, text=text, by=_tester_key(number), now=timezone.now(),
        )  # fmt: skip
    organiser = hosted.memberships.get(role=Role.ORGANISER.value).account.token
    for kind, part, text, because in content["review"]:
        add_entry(
            store, hosted.name,
            part=SeriesPart(part), kind=EntryKind(kind), text=text, by=organiser, now=timezone.now(), because=because,
            source=FeedbackSource.WORKSHOP if kind == EntryKind.FEEDBACK.value else None,
        )  # fmt: skip


def _tester_key(number: int) -> str:
    """Return the key of a tester as a participant."""
    return digest("demo tester", str(number))[:24]


def load_combined_review(hosted: HostedStudy) -> None:
    """Record that a session was read together with its answers, unless one was."""
    workspace = settings.WORKSPACE or Path(WORKSPACE_NAME)
    store = open_store(workspace, settings.DATABASE_URL)
    try:
        event = open_event(hosted.folder, store, workspace=Path(workspace)).event
        if not reviews_of(store, event.study):
            keep_review(store, event.study, event.run, _review(hosted, event.study))
    finally:
        store.disconnect()


def _review(hosted: HostedStudy, study: Study) -> CombinedReview:
    number, application, risk, result, magnitude, why = testers_file()["reviewed"]
    return CombinedReview(
        study=study.name,
        risk=risk,
        session=_key(number, application),
        materialised=result == "yes",
        reviewer=_participant(hosted, Role.ANALYST),
        rationale=why,
        magnitude=magnitude,
        impact=Impact.NEGATIVE,
    )


def _key(number: int, application: str) -> str:
    """Return the key of the session of a tester with an application."""
    return digest("demo session", str(number), application)


def testers_file() -> Content:
    """Return the shipped file's answers of the invented testers."""
    content: Content = typed(read_yaml(shipped_bytes(FILE) or b"", FILE).content)
    return content


def _session_held(
    event: EventContext, store: DjangoStore, content: Content, tester: Content, number: int, application: str
) -> QuestionnaireResponse:
    """Let one tester complete one session and answer its questionnaire."""
    level, own = Level(tester["level"]), tester[application]
    session = _session(event, level, number, application)
    store.add_profile(session.participant, _profile(level, str(tester["age"])), now=event.clock.now())
    store.events.sessions.add(session)
    start_session(event, session.key)
    for reply in own["said"]:
        prompt, text = content["replies"][reply]
        turn, _ = send_prompt(event, session.key, prompt)
        finish_turn(
            event,
            turn.key,
            LiveEnding(state=TurnState.COMPLETE, text=text, reply=_paid(text), latency_s=0.4, waited_s=1.0),
        )
        if level is Level.RED_TEAMING and reply in content["labels"]["Bela"] and reply != "refused":
            store.events.dialogues.mark_turn(turn.key, broke=True)
        if isinstance(event.clock, EarlierClock):
            event.clock.move_on(_TURN)
    _note(store, session.key, own.get("tried", ()))
    done = own["choices"].get("done")
    end_session(event, session.key, task_done=None if done is None else done == "yes")
    questionnaire = next(
        one for one in event.study.questionnaires if one.name == f"tv-spoilers-{level.value.replace(' ', '-')}"
    )
    numbers = dict(zip(content["asked"][level.value], own["numbers"], strict=True))
    response = QuestionnaireResponse(
        session=session.key,
        participant=session.participant,
        questionnaire=questionnaire.name,
        instrument_version=version_of(questionnaire),
        answers=tuple(_answers(questionnaire, {**numbers, **own["choices"], **_texts(own)})),
        submitted=True,
    )
    store.events.responses.add(response)
    return response


def _paid(text: str) -> Reply:
    """Return a reply with the cost that an application of this length would report."""
    return Reply(text=text, tokens_in=40, tokens_out=len(text.split()), cost_microusd=_USD_PER_WORD * len(text.split()))


def _note(store: DjangoStore, session: str, attempts: Sequence[Mapping[str, str]]) -> None:
    """Store a red teamer's note about the one dialogue of a session."""
    (dialogue,) = store.events.dialogues.of_session(session)
    strategies: tuple[Strategy, ...] = ()
    for form in attempts:
        result = with_note(strategies, form, dialogue=dialogue.key, n_turns=len(dialogue.turns))
        strategies = strategies if isinstance(result, Unreadable) else result
    if strategies:
        store.events.dialogues.set_strategies(dialogue.key, strategies)


def _texts(own: Content) -> dict[str, str]:
    return {name: str(own[name]) for name in ("open", "strategies") if own.get(name)}


def _profile(level: Level, age: str) -> PersonProfile:
    kind = UserType.ADVERSARIAL if level is Level.RED_TEAMING else UserType.EVERYDAY
    return PersonProfile(user_type=kind, languages=("en",), groups={"age": age})


def _session(event: EventContext, level: Level, number: int, application: str) -> Session:
    study, scenario = event.study, event.study.scenarios[0]
    names = [one.name for one in study.applications]
    place = (names.index(application) + number) % len(names)
    return Session(
        key=_key(number, application),
        study=study.name,
        study_version=version_of(study),
        run=event.run.key,
        participant=_tester_key(number),
        level=level,
        scenario=scenario.name,
        scenario_version=scenario_sight(scenario),
        application=application,
        application_version=study.application_version(application),
        slot=BEYOND + number,
        place=place,
        alias=f"Application {'KM'[place]}",
    )


def _answers(questionnaire: Questionnaire, filled_in: Mapping[str, Any]) -> Iterator[Answer]:
    """Yield an answer to each question: unanswered ones are missing, unopened ones are left out."""
    values = {name: str(value) for name, value in filled_in.items()}
    for question in questionnaire.instrument.questions:
        if question.name in values:
            yield Answer(question=question.name, outcome=Outcome.ANSWERED, value=values[question.name])
        elif _was_open(question, questionnaire, values) and not question.is_optional:
            yield Answer(question=question.name, outcome=Outcome.MISSING)


def _was_open(question: Question, questionnaire: Questionnaire, values: Mapping[str, str]) -> bool:
    if question.when is None:
        return True
    value = values.get(question.when.question)
    scale = questionnaire.instrument.question(question.when.question).scale
    return value is not None and question.when.holds(value, scale)


def _code(
    hosted: HostedStudy,
    event: EventContext,
    store: DjangoStore,
    content: Content,
    sessions: Mapping[tuple[int, str], QuestionnaireResponse],
) -> None:
    """Let the analyst and the senior annotator code some answers, discuss one, and release a few."""
    coders = [_participant(hosted, role) for role in (Role.ANALYST, Role.SENIOR)]
    study, responses = event.study, store.events.responses.in_study(event.study.name)
    save_codebook(store, _codebook(study, content["codes"], coders[0]))
    save_codebook(store, _codebook(study, content["ways"], coders[0], name=WAYS, covers=(_attempts("").place,)))
    room = coding_project(store, study, (*responses, *notes_in(study, store.events.dialogues.summaries(study.name))))
    coded = [(_about(sessions[number, application]), codings) for number, application, *codings in content["codings"]]
    coded += [(_attempts(sessions[number, app].session), codings) for number, app, *codings in content["tried"]]
    for answer, codings in coded:
        for coder, names in zip(coders, codings, strict=False):
            save_coding(store, room, answer, coder, names, "")
        if len(codings) > len(coders):
            disputed = coding_project(store, study, responses)
            resolve_disagreement(store, disputed, answer, codings[-1], by=coders[0], rationale=TALKED)
    for number, application, hidden in content["quotes"]:
        release_quote(store, room, _about(sessions[number, application]), _words(hidden), by=coders[0])


def _codebook(study: Study, codes: Sequence[Content], by: str, **facts: Any) -> Codebook:
    written = tuple(Code(**{name: str(words) for name, words in code.items()}) for code in codes)
    return Codebook(study=study.name, codes=written, revision=0, by=by, **facts)


def _attempts(session: str) -> OpenAnswer:
    (question,) = TRIED.instrument.questions
    return OpenAnswer(session=session, questionnaire=TRIED.name, question=question.name)


def _words(hidden: Sequence[object]) -> list[str]:
    return [str(word) for word in hidden]


def _about(response: QuestionnaireResponse) -> OpenAnswer:
    return OpenAnswer(session=response.session, questionnaire=response.questionnaire, question="open")


def _participant(hosted: HostedStudy, role: Role) -> str:
    return Membership.objects.get(hosted=hosted, role=role.value).participant


def load_labels(hosted: HostedStudy) -> None:
    """Run the scripts of the event's study and import the labels; existing results are not requested again."""
    workspace = Path(settings.WORKSPACE or WORKSPACE_NAME)
    store = open_store(workspace, settings.DATABASE_URL)
    try:
        context = event_study_context(hosted.folder, workspace, store)
        if not context.is_finished():
            asyncio.run(_complete(context))
            _labelled(context)
    finally:
        store.disconnect()


async def _complete(context: StudyContext) -> None:
    await run_study(context, RunOptions(), progress=Silent(), before_asking=_ask_nobody)


async def _ask_nobody(context: StudyContext, clients: Clients, options: RunOptions) -> None:
    """Start the run: its applications are functions of this package, so no endpoint can be unavailable."""


def _labelled(context: StudyContext) -> None:
    content = testers_file()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["dialogue", "annotator", "guideline", "question", "answer"])
            writer.writerows(
                row for dialogue in context.evidence().archive.dialogues() for row in _rows(content, dialogue)
            )
        import_labels(context, path, _COLUMNS)


def _rows(content: Content, dialogue: Dialogue) -> Iterator[tuple[str, ...]]:
    """Yield both coders' answers on a dialogue of a human tester."""
    if dialogue.held_by is not TesterType.PERSON:
        return
    shown_replies = {
        name for turn in dialogue.turns for name, (_, text) in content["replies"].items() if text == turn.response
    }
    for annotator, seen in content["labels"].items():
        answers: dict[str, str] = dict.fromkeys(_FLAGS, "no")
        for reply in sorted(shown_replies & set(seen)):
            answers |= _said(seen[reply])
        yield from ((dialogue.label, annotator, _GUIDELINE, question, answer) for question, answer in answers.items())


def _said(answers: Mapping[str, object]) -> dict[str, str]:
    return {question: str(answer) for question, answer in answers.items()}
