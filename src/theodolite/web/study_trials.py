"""Trials of a study's unsaved text on pages of their own: previews, connections, and judges on three dialogues.

Each page opens beside the editor, so that the text stays there; a preview is also embedded beside its form. It
works on the text as it is in the editor and stores nothing; the audit log names the calls that it made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.study_trials import (
    ConnectionCheck,
    TrialAccess,
    TrialOutcome,
    check_connection,
    judge_named,
    model_judges,
    try_judge,
)
from theodolite.config.edit_checks import OPERATOR_ONLY, UnsavedReading, with_unsaved
from theodolite.config.editable_files import EditableFiles
from theodolite.config.loading import LoadedStudy
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.annotator import ModelJudge
from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, NotFound, StudyError, TheodoliteError
from theodolite.domain.guideline import Guideline
from theodolite.domain.run import Spending
from theodolite.domain.study import Study
from theodolite.domain.text import cost_text
from theodolite.reporting.words import figures
from theodolite.usecases.judge_validation import JudgeTrial, TrialReading, trial_dialogues
from theodolite.web.annotator.annotation_page import reference_of, turns_of
from theodolite.web.annotator.guideline_preview import FRAMED_POLICY, GuidelinePreview, guideline_preview
from theodolite.web.asgi_handler import fill, once, run_in_pool
from theodolite.web.questions import FormPage, form_page, humanize


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSetting:
    """The surroundings of trials.

    Attributes:
        environ: Returns the variables from which the keys of a study are read.
        public_only: Whether hosts that the study's files do not name are called at public addresses alone.
        stored: Returns dialogues of the study's run or event.
        spent: Returns the cost of the study so far.
    """

    environ: Callable[[Study], Mapping[str, str]]
    public_only: bool
    stored: Callable[[], Iterable[Dialogue]]
    spent: Callable[[], Spending]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedApplication:
    """An accepted application that can be added to the study.

    Attributes:
        name: Its name in the study.
        team: Name of its team.
        address: Address that adds it to the draft.
    """

    name: str
    team: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedStudy:
    """A study as a page edits it.

    Attributes:
        title: Name of the study.
        files: Its files.
        template: Template that the page extends.
        address: Address of the page.
        context: Values that the template needs.
        trials: Surroundings of trials.
        environ: Environment variables, to report which keys are not set; None for no report.
        publishing: Address of the page that publishes the files; empty if there is no publishing.
        running: Address of the page that starts a run; empty if the page does not offer it.
        offers: Accepted applications of teams that the study does not have.
        record: Records actions and their facts; None to record nothing.
    """

    title: str
    files: EditableFiles
    template: str
    address: str
    context: Mapping[str, object]
    trials: TrialSetting
    environ: Mapping[str, str] | None = None
    publishing: str = ""
    running: str = ""
    offers: Sequence[OfferedApplication] = ()
    record: Callable[..., object] | None = None

    def page(self, name: str = "", at: str = "") -> str:
        """Return the address of a file's page, or of the form of a part."""
        query = {key: value for key, value in (("file", name), ("at", at)) if value}
        return f"{self.address}?{urlencode(query)}" if query else self.address

    def recorded(self, verb: str, **facts: object) -> None:
        """Record an action if actions are recorded."""
        if self.record is not None:
            self.record(verb, **facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsavedText:
    """The text of one file as it is in the editor."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialButton:
    """A button of the editor that tries a part of the study.

    Attributes:
        title: Text of the button.
        act: Value of the button.
        part: Address of the part in the study file, e.g. `questionnaires/after`.
    """

    title: str
    act: str
    part: str


def trial_buttons(study: Study) -> Mapping[str, Sequence[TrialButton]]:
    """Return the buttons for the parts of a study, by heading."""
    categories = [category for schema in study.schemas for category in schema.categories]
    forms = [(form.name, form.title or humanize(form.name), "questionnaires") for form in study.questionnaires]
    forms += [(category.name, category.title or humanize(category.name), "schemas") for category in categories]
    named = {name for name, _, _ in forms}
    forms += [
        (guideline.name, humanize(guideline.name), "guidelines")
        for guideline in study.guidelines
        if guideline.name not in named
    ]
    live = [
        application.name for application in study.applications if not isinstance(application.connection, RecordedFile)
    ]
    endpoints = [(name, "applications") for name in live] + [(model.name, "models") for model in study.models]
    groups = {
        "Preview": [
            TrialButton(title=title, act=f"preview:{name}", part=f"{part}/{name}") for name, title, part in forms
        ],
        "Try a judge": [
            TrialButton(title=judge.name, act=f"trial:{judge.name}", part=f"judges/{judge.name}")
            for judge in model_judges(study)
        ],
        "Test connection": [
            TrialButton(title=name, act=f"connection:{name}", part=f"{part}/{name}") for name, part in endpoints
        ],
    }
    return {heading: buttons for heading, buttons in groups.items() if buttons}


def _shown(request: HttpRequest, edited: EditedStudy, heading: str, **context: object) -> HttpResponse:
    """Return a page of a trial."""
    shown = {**edited.context, "edited": edited, "heading": heading, **context}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if context.get("problem") else HTTPStatus.OK
    return render(request, "web/editing/trial.html", shown, status=status)


def _refused(request: HttpRequest, edited: EditedStudy, heading: str, why: str) -> HttpResponse:
    return _embeddable(_shown(request, edited, heading, problem=why))


def refused(request: HttpRequest, edited: EditedStudy, error: TheodoliteError) -> HttpResponse:
    """Return the page of a text that cannot be tried, since the values of the form do not fit into it."""
    return _refused(request, edited, "The text contains an error", problem_of(error))


def problem_of(error: TheodoliteError) -> str:
    """Return the text of an error for a page; all faults of a study with their lines."""
    if isinstance(error, InvalidStudyError):
        return render_diagnostics(error.placed, limit=20, ending="Correct the errors, then try again.")
    return str(error)


# --- Preview


def preview(request: HttpRequest, edited: EditedStudy, unsaved: UnsavedText, name: str) -> HttpResponse:
    """Show a questionnaire, a category or a guideline as people will see it; answers are stored nowhere."""
    try:
        with with_unsaved(edited.files, unsaved.name, unsaved.text, resolver=resource_resolver()) as reading:
            study = reading.loaded.study
    except (InputError, StudyError) as error:
        return _refused(request, edited, "No preview", problem_of(error))
    carried = {"file": unsaved.name, "text": unsaved.text, "act": f"preview:{name}"}
    framed = {"framed": "yes"} if "framed" in request.POST else {}
    context = {**edited.context, **framed, "carried": carried | framed}
    questionnaire = next((one for one in study.questionnaires if one.name == name), None)
    if questionnaire is not None:
        title = questionnaire.title or humanize(name)
        context |= {"title": title, "about": questionnaire.about}
        page = FormPage(
            instrument=questionnaire.instrument, template="web/editing/preview_questionnaire.html", context=context
        )
        return _embeddable(form_page(request, page, is_first="answered" not in request.POST))
    found = _guideline(study, name)
    if found is None:
        return _refused(
            request, edited, "No preview", f"The text has no questionnaire, category or guideline `{name}`."
        )
    shown = GuidelinePreview(
        guideline=found[0],
        title=found[1],
        reference=reference_of(study),
        template="web/editing/preview_guideline.html",
        context=context,
        sent=request.POST if "answered" in request.POST else {},
    )
    return _embeddable(guideline_preview(request, shown))


def _embeddable(answer: HttpResponse) -> HttpResponse:
    """Return an answer that the editor may show beside its form; other sites still may not embed it."""
    answer.headers["Content-Security-Policy"] = FRAMED_POLICY
    answer.headers["X-Frame-Options"] = "SAMEORIGIN"
    return answer


def _guideline(study: Study, name: str) -> tuple[Guideline, str] | None:
    for schema in study.schemas:
        for category in schema.categories:
            if category.name == name:
                return category.guideline, category.title or humanize(name)
    return next(((guideline, humanize(name)) for guideline in study.guidelines if guideline.name == name), None)


# --- Connections


def connection(request: HttpRequest, edited: EditedStudy, unsaved: UnsavedText, name: str) -> HttpResponse:
    """Call a model or application of the unsaved text, and show how it answers."""
    heading = f"Connection to {name}"
    try:
        loaded, access = _loaded(edited, unsaved)
    except (InputError, StudyError) as error:
        return _refused(request, edited, heading, problem_of(error))
    answer = HttpResponse()

    async def checked() -> None:
        try:
            result = await check_connection(loaded, name, access)
        except (InputError, NotFound) as error:
            result = ConnectionCheck(name=name, problem=str(error))
        fill(answer, await run_in_pool(_connection_page, request, edited, heading, result))

    return once(answer, checked)


def _connection_page(request: HttpRequest, edited: EditedStudy, heading: str, result: ConnectionCheck) -> HttpResponse:
    edited.recorded("tested connection", endpoint=result.name, connected=result.is_connected)
    return _shown(request, edited, heading, connection=result)


def _loaded(edited: EditedStudy, unsaved: UnsavedText) -> tuple[LoadedStudy, TrialAccess]:
    """Return the study with the unsaved text, and the access of its trials.

    Raises:
        InputError: If the text adds code or keys that only the operator may add.
        InvalidStudyError: If it has faults.
    """
    with with_unsaved(edited.files, unsaved.name, unsaved.text, resolver=resource_resolver()) as reading:
        return reading.loaded, _access(edited, reading)


def _access(edited: EditedStudy, reading: UnsavedReading) -> TrialAccess:
    if reading.added_access:
        message = f"the text adds {'; '.join(reading.added_access)}; {OPERATOR_ONLY}"
        raise InputError(message)
    return TrialAccess(
        environ=edited.trials.environ(reading.loaded.study),
        public_only=edited.trials.public_only,
        known_hosts=reading.known_hosts,
    )


# --- Judges


def trial(request: HttpRequest, edited: EditedStudy, unsaved: UnsavedText, name: str) -> HttpResponse:
    """Show the dialogues of a trial and its cost; once the cost is confirmed, show the judge's answers."""
    heading = f"Trial of judge {name}"
    try:
        with with_unsaved(edited.files, unsaved.name, unsaved.text, resolver=resource_resolver()) as reading:
            loaded, access = reading.loaded, _access(edited, reading)
            planned = _planned(edited, loaded, name)
    except (InputError, NotFound, StudyError) as error:
        return _refused(request, edited, heading, problem_of(error))
    carried = {"file": unsaved.name, "text": unsaved.text, "act": f"trial:{name}"}
    context = {"trial": planned, "price": price_text(planned), "carried": carried}
    if not planned.dialogues:
        why = "There is no dialogue to read. Run the study first, record dialogues, or add examples to the guideline."
        return _refused(request, edited, heading, why)
    if "confirmed" not in request.POST:
        return _shown(request, edited, heading, **context)
    answer = HttpResponse()

    async def asked() -> None:
        try:
            outcome = await try_judge(loaded, planned, access, spent=await run_in_pool(edited.trials.spent))
        except TheodoliteError as error:
            outcome = TrialOutcome(problem=str(error))
        fill(answer, await run_in_pool(partial(_outcome_page, request, edited, heading, outcome, context)))

    return once(answer, asked)


def _planned(edited: EditedStudy, loaded: LoadedStudy, name: str) -> JudgeTrial:
    judge = judge_named(loaded.study, name)
    dialogues = trial_dialogues(
        loaded.study.guideline(judge.guideline),
        stored=edited.trials.stored(),
        recorded=loaded.recordings,
        turns_in=lambda text: [(turn.prompt, turn.response) for turn in turns_of(text)],
    )
    return JudgeTrial(study=loaded.study, judge=judge, dialogues=dialogues)


def _outcome_page(
    request: HttpRequest, edited: EditedStudy, heading: str, outcome: TrialOutcome, context: Mapping[str, object]
) -> HttpResponse:
    facts: dict[str, object] = {"calls": outcome.spent.calls, "cost_microusd": outcome.cost_microusd}
    edited.recorded("tried judge", judge=heading.removeprefix("Trial of judge "), **facts)
    shown = {**context, "outcome": outcome, "spent": spent_text(outcome)}
    readings = [(reading, list(_rows(reading))) for reading in outcome.readings]
    return _shown(request, edited, heading, problem=outcome.problem, readings=readings, **shown)


def _rows(reading: TrialReading) -> Iterator[tuple[str, str, str]]:
    """Yield question, answer and reason of each answer."""
    for answer in reading.annotation.answers if reading.annotation is not None else ():
        place = f"{answer.question}, turn {answer.turn}" if answer.turn is not None else answer.question
        yield place, answer.value or answer.outcome.value, answer.reasoning


def price_text(trial: JudgeTrial) -> str:
    """Return the calls of a trial, and their cost with the longest replies, as text."""
    expected, labelling = trial.expected(), trial.judge.labelling
    model = trial.study.model(labelling.model) if isinstance(labelling, ModelJudge) else None
    calls, again = figures.number_of(expected.calls, "call"), "A reply that cannot be read is requested again."
    if model is None or model.is_scripted:
        return f"{calls}, without cost: the model is scripted."
    if model.price is None:
        return f"{calls}. The cost is unknown: {model.name} has no price. {again}"
    return f"{calls}, {cost_text(expected.cost_microusd)} at most. {again}"


def spent_text(outcome: TrialOutcome) -> str:
    """Return the calls and the cost of a trial that has ended, as text."""
    calls = figures.number_of(outcome.spent.calls, "call")
    if outcome.spent.unpriced_calls:
        return f"{calls}. The cost is unknown: the model has no price."
    return f"{calls}, {cost_text(outcome.cost_microusd)}."
