"""Results: measurements in their own process, their files, and the blinding audit."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation.listing import dialogue_names, latest_submissions
from theodolite.assessment.blinding import SecretWord, plain_names, secrets_for_annotators, secrets_for_testers
from theodolite.bootstrap.audience_reports import audience_files
from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.bootstrap.events import MEASURE, PUBLIC
from theodolite.bootstrap.page_checks import Lookout, PageAnswer, PageLeak
from theodolite.bootstrap.releases import BUNDLE, KEY, REVIEW, public_key_file, read_review
from theodolite.bootstrap.reports import REPORT, RESULTS
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.estimate import Estimate
from theodolite.domain.event import Role
from theodolite.domain.event_record import FEWEST_GUESSES, BlindingAssessment
from theodolite.domain.findings.number import Undefined
from theodolite.domain.identity import version_of
from theodolite.domain.undefined_reasons import TOO_FEW_GUESSES, undefined_text
from theodolite.events.context import EventContext
from theodolite.events.next_steps import RoleStep
from theodolite.events.results import leaks, naming_counts
from theodolite.reporting.words import figures
from theodolite.usecases.audiences import Audience, AudienceKind
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.analyst.reviews import next_step_of_analyst
from theodolite.web.asgi_handler import Background
from theodolite.web.events import event_of
from theodolite.web.models import Account, HostedStudy, Measurement, Membership, Submission
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.rendering import ShareLine, UnitStrip, share_line, share_place, unit_strip

CUT_OFF = "The server stopped before the measurement finished; measure again."


_background = Background()


@asynccontextmanager
async def measuring_bench() -> AsyncIterator[None]:
    """Run measurements while the server runs; mark those that a shutdown interrupted."""
    await sync_to_async(_strike_unfinished)()
    async with _background.open():
        yield


async def measure(hosted: HostedStudy, by: Account, task: str = MEASURE) -> bool:
    """Start a measurement of a study, or its public release; return False if one is in progress.

    Args:
        hosted: The study.
        by: The account that asks for it.
        task: `measure` or `release`.

    Raises:
        Http404: If the study has no files.
        StudyError: If its files contain errors.
    """
    begun = await sync_to_async(_begin)(hosted, by)
    if begun is None:
        return False
    await _background.do(_measured(begun, task))
    return True


def _begin(hosted: HostedStudy, by: Account) -> Measurement | None:
    if hosted.measurements.filter(done_at=None).exists():
        return None
    return Measurement.objects.create(hosted=hosted, asked_by=by, edition=version_of(event_of(hosted).study))


async def _measured(measurement: Measurement, task: str) -> None:
    command = [task, measurement.hosted.folder, str(settings.WORKSPACE), str(measurement.folder), measurement.edition]
    command += await sync_to_async(_applications_of_teams)(measurement.hosted)
    environ = {**os.environ, DATABASE_VARIABLE: settings.DATABASE_URL or ""}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "theodolite.bootstrap.events", *command,
        env=environ, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        _, output = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    problem = "" if process.returncode == 0 else _last_line(output.decode(errors="replace"))
    await sync_to_async(_keep)(measurement, problem)


def _applications_of_teams(hosted: HostedStudy) -> list[str]:
    """Return the names of accepted applications that teams submitted."""
    accepted = Submission.objects.filter(hosted=hosted, state=Submission.State.ACCEPTED)
    return list(accepted.order_by("name").values_list("name", flat=True).distinct())


def team_files(application: str) -> tuple[str, str]:
    """Return the names of a team's report and results on its application, in the folder of a measurement."""
    return audience_files(Audience(kind=AudienceKind.TEAM, team=application, applications=(application,)))


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "The measurement stopped without an error message."


def _keep(measurement: Measurement, problem: str) -> None:
    """Store the outcome of a measurement; the files of a deleted one are removed."""
    if not Measurement.objects.filter(pk=measurement.pk).update(done_at=timezone.now(), problem=problem):
        shutil.rmtree(measurement.folder, ignore_errors=True)


def _strike_unfinished() -> None:
    Measurement.objects.filter(done_at=None).update(done_at=timezone.now(), problem=CUT_OFF)


REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; "
    "frame-ancestors 'none'"
)
"""The report is one file with its own script; a sandbox isolates it from the session of the reader.

The file narrows this down to the hashes of its own script and style.
"""


PUBLIC_REPORT, PUBLIC_RESULTS = audience_files(PUBLIC)
BUNDLE_FILE, KEY_FILE = f"{BUNDLE}.zip", public_key_file(Path(KEY)).name

_TYPES = {
    REPORT: "text/html; charset=utf-8",
    RESULTS: "application/json",
    PUBLIC_REPORT: "text/html; charset=utf-8",
    PUBLIC_RESULTS: "application/json",
    BUNDLE_FILE: "application/zip",
    KEY_FILE: "application/x-pem-file",
}
"""Files of measurements and of public releases, with their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLine:
    """A measurement or a public release in the list.

    Attributes:
        row: The measurement.
        number: Number of the published version; None if it was never published.
        files: Name and title of each file that it has.
        reported: Applications of teams with a report.
        has_identifiers: Whether identifiers were found in its texts.
        n_undecided: Identifiers in its texts without a decision; count.
    """

    row: Measurement
    number: int | None
    files: Sequence[tuple[str, str]]
    reported: Sequence[str]
    has_identifiers: bool = False
    n_undecided: int = 0

    @property
    def is_release(self) -> bool:
        """Whether it was made for the public."""
        return any(name == PUBLIC_REPORT for name, _ in self.files)


@allowed(Role.ORGANISER, Role.ANALYST)
def results(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List the measurements."""
    measured = list(access.hosted.measurements.select_related("asked_by").order_by("-asked_at"))
    numbers = dict(access.hosted.editions.values_list("version", "number"))
    names = _applications_of_teams(access.hosted)
    lines = [_line(one, numbers.get(one.edition), _reported(one, names)) for one in measured]
    context = {
        "access": access,
        "lines": lines,
        "is_under_way": any(measurement.done_at is None for measurement in measured),
        "can_share": access.role is Role.ORGANISER,
        "can_release": access.hosted.state == HostedStudy.State.CLOSED,
        "applications": names,
        "next_step": _next_step(request, access) if access.role is Role.ANALYST else None,
    }
    return render(request, "web/organiser/results.html", context)


def _next_step(request: HttpRequest, access: AccessContext) -> NextStepCard | None:
    """Return the next step of an analyst; counting the tasks takes longer than a page may, so it is on request."""
    if request.GET.get("next") == "yes":
        return next_step_of_analyst(access)
    address = f"{reverse('organiser:results', args=[access.hosted.token])}?next=yes"
    return next_step_card(RoleStep.FIND_TASK, access.hosted.token, address=address)


_TITLES = {
    REPORT: "report",
    RESULTS: "results.json",
    PUBLIC_REPORT: "public report",
    PUBLIC_RESULTS: "public results.json",
    BUNDLE_FILE: "signed bundle",
    KEY_FILE: "public key",
}
"""Names of the files in the list."""


def _line(measurement: Measurement, number: int | None, reported: Sequence[str]) -> MeasuredLine:
    review = measurement.folder / REVIEW
    findings = tuple(read_review(review).values()) if review.is_file() else ()
    return MeasuredLine(
        row=measurement,
        number=number,
        files=[pair for pair in _TITLES.items() if (measurement.folder / pair[0]).is_file()],
        reported=reported,
        has_identifiers=bool(findings),
        n_undecided=sum(not finding.is_decided for finding in findings),
    )


def _reported(measurement: Measurement, applications: Sequence[str]) -> list[str]:
    """Return the applications of teams on which a measurement has a report."""
    return [name for name in applications if (measurement.folder / team_files(name)[0]).is_file()]


@allowed(Role.ORGANISER)
@require_POST
def share(request: HttpRequest, access: AccessContext, measurement: str) -> HttpResponse:
    """Let each team read the report on its own application, or withdraw this."""
    rows = access.hosted.measurements.filter(token=measurement, problem="").exclude(done_at=None)
    row = rows.first()
    if row is None:
        raise Http404
    is_shared = request.POST.get("shared") == "yes"
    rows.update(shared_at=timezone.now() if is_shared else None)
    access.audit("shared team reports" if is_shared else "ended sharing of team reports", f"measurement {row.token}")
    return redirect("organiser:results", study=access.hosted.token)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_POST
async def measure_now(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Start a measurement in the background."""
    try:
        if not await measure(access.hosted, access.account):
            messages.info(request, "A measurement is already running.")
    except TheodoliteError as error:
        messages.warning(request, f"Nothing was measured: {error}")
    return redirect("organiser:results", study=access.hosted.token)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def measured_file(request: HttpRequest, access: AccessContext, measurement: str, file: str) -> HttpResponse:
    """Return the report or the results of a measurement; the access is logged."""
    row = Measurement.objects.filter(hosted=access.hosted, token=measurement).first()
    if row is None or file not in _TYPES or not (row.folder / file).is_file():
        raise Http404
    audit(request.user, "opened results", f"measurement {row.token}", hosted=access.hosted, file=file)
    return file_response(row.folder / file, file, f"{access.hosted.name}-{file}")


def file_response(path: Path, kind: str, name: str) -> HttpResponse:
    """Return a report in a sandbox, or results as a download.

    Args:
        path: The file.
        kind: Name of the file, e.g. `report.html`.
        name: Name of the download.
    """
    response = HttpResponse(path.read_bytes(), content_type=_TYPES[kind])
    if kind in {REPORT, PUBLIC_REPORT}:
        response.headers["Content-Security-Policy"] = REPORT_POLICY
    else:
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


MOST_PEOPLE = 12
"""People of each role whose latest pages are searched; count."""


MOST_PAGES = 80
"""Maximum number of pages of one person; count."""


MOST_KEYS = 2000
"""Maximum number of dialogue keys to search annotators' pages for; count."""


_GROUPS = {Role.RED_TEAMER: "tester", Role.FIELD_TESTER: "tester", Role.ANNOTATOR: "annotator"}

_TURNING = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """The result of a search.

    Attributes:
        people: Number of people with opened pages.
        pages: Pages that were searched; count.
        leaks: Secret words found on the pages.
        plain: Names that could not be searched because they are common words.
    """

    people: int
    pages: int
    leaks: tuple[PageLeak, ...]
    plain: tuple[str, ...]


def search_pages(hosted: HostedStudy, request: HttpRequest) -> AuditResult:
    """Search every page that people of a study can currently open.

    Args:
        hosted: The study.
        request: The request, for the address of the server.
    """
    event, asked = event_of(hosted), _PageClient(request)
    lookouts = []
    for membership in _people(hosted):
        lookout = _lookout(hosted, event, membership)
        for page in _pages(asked, membership, _starts(event, membership)):
            lookout.look(page)
        lookouts.append(lookout)
    unique = {
        (leak.role, leak.revealed.secret, _shape(leak.page)): leak for lookout in lookouts for leak in lookout.leaks
    }
    return AuditResult(
        people=len(lookouts),
        pages=sum(lookout.n_pages for lookout in lookouts),
        leaks=tuple(unique.values()),
        plain=plain_names(event.study),
    )


def _people(hosted: HostedStudy) -> Iterator[Membership]:
    for role in _GROUPS:
        membership = Membership.objects.filter(hosted=hosted, role=role.value, left_at=None, account__is_active=True)
        yield from membership.select_related("account").order_by("-id")[:MOST_PEOPLE]


def _lookout(hosted: HostedStudy, event: EventContext, membership: Membership) -> Lookout:
    role = membership.as_role
    if role is not Role.ANNOTATOR:
        return Lookout(role.value, secrets_for_testers(event.study))
    return Lookout(role.value, _secrets(hosted, event, membership), hears=True)


def _secrets(hosted: HostedStudy, event: EventContext, membership: Membership) -> tuple[SecretWord, ...]:
    others = Membership.objects.filter(hosted=hosted, role__in=[role.value for role in _GROUPS])
    known = others.exclude(account=membership.account).values_list("participant", "account__name", "account__email")
    people = {fact for facts in known for fact in facts if fact and fact != membership.account.name}
    keys = dialogue_names(hosted.token, MOST_KEYS)
    return secrets_for_annotators(event.study, people=people, keys=keys)


def _starts(event: EventContext, membership: Membership) -> list[str]:
    """Return the addresses at which a search of a person's pages starts; some have no link."""
    group, token = _GROUPS[membership.as_role], membership.hosted.token
    home = reverse(f"{group}:home", args=[token])
    if group == "annotator":
        claims = latest_submissions(token, membership.participant, 10)
        return [home, *(reverse("annotator:annotation", args=[token, claim]) for claim in claims)]
    made = [session.place + 1 for session in event.sessions.of_participant(membership.participant)]
    own = [
        f"{session_no}/{rest}"
        for session_no in made
        for rest in ("instructions/", "", "state/", "end/", "new-dialogue/", "questions/")
    ]
    streams = [f"{session_no}/{dialogue}/1/" for session_no in made for dialogue in (1, 2)]
    return [
        urljoin(home, rest)
        for rest in ("consent/", "topics/", "profile/", "guess/", "done/", "leave/", "my-data/", *own, *streams)
    ]


def _pages(client: _PageClient, membership: Membership, starts: list[str]) -> Iterator[PageAnswer]:
    """Yield every page reachable by links of the person's group, each once."""
    home = reverse(f"{_GROUPS[membership.as_role]}:home", args=[membership.hosted.token])
    waiting, seen = deque(starts), set[str]()
    while waiting and len(seen) < MOST_PAGES:
        path = waiting.popleft()
        if path in seen:
            continue
        seen.add(path)
        page = client.ask(membership.account, path)
        yield page
        links = (urlsplit(urljoin(path, link)).path for link in page.links)
        waiting.extend(link for link in links if link.startswith(home) and not _begins(link, starts))


def _begins(path: str, starts: list[str]) -> bool:
    """Return whether opening a page has an effect: it allocates a task or work, or exports data."""
    return path not in starts and (path.endswith(("/instructions/", "/my-data/file/")) or "/annotate/d/" in path)


def _shape(path: str) -> str:
    return "".join("0" if letter.isdigit() else letter for letter in path)


class _PageClient:
    """Requests pages of this server on behalf of an account."""

    def __init__(self, request: HttpRequest) -> None:
        self._handler = BaseHandler()
        self._handler.load_middleware()
        self._address = {
            "SERVER_NAME": request.META.get("SERVER_NAME", ""),
            "SERVER_PORT": request.META.get("SERVER_PORT", ""),
            "HTTP_HOST": request.get_host(),
            "wsgi.url_scheme": request.scheme or "http",
        }

    def ask(self, account: Account, path: str) -> PageAnswer:
        """Return a page as an account sees it; a redirect counts as the page."""
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": "", "wsgi.input": BytesIO()}
        request = WSGIRequest({**environ, **self._address})
        request._cached_user = account  # type: ignore[attr-defined]  # noqa: SLF001 - where Django keeps who asks
        response = self._handler.get_response(request)
        headers = "\n".join(f"{name}: {value}" for name, value in response.items())
        return PageAnswer(path, response.status_code, headers, _text(response))


def _text(response: object) -> str:
    if not isinstance(response, HttpResponse) or response.status_code in _TURNING:
        return ""
    return response.content.decode(errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakLine:
    """One row of the table of guesses, as text.

    Attributes:
        about: Subject of the guess.
        level: Level of testing; "all levels" for all together.
        right: Right guesses out of all, and their share if there are enough.
        between: Ends of the interval; empty if there are too few guesses.
        chance: Expected share by guessing alone.
        surprise: Probability of at least this number of right guesses by chance; a text if there are too few guesses.
        n_unknown: Testers who answered "do not know"; count.
        n_repeated: Later guesses by the same people; count.
        line: Share and interval on a line from 0 to 100%; without a position if there are too few guesses.
        chance_at: Position of the chance level on that line; pixels.
        strip: Each guess as a square if there are too few for a share: right ones first, unknown ones last.
    """

    about: str
    level: str
    right: str
    between: str
    chance: str
    surprise: str
    n_unknown: int
    n_repeated: int
    line: ShareLine
    chance_at: float
    strip: UnitStrip | None = None

    @property
    def words(self) -> str:
        """The chart as text."""
        parts = (f"{self.right} right", self.between, f"by chance {self.chance}", f"{self.n_unknown} did not know")
        return f"{self.about}, {self.level}: {', '.join(part for part in parts if part)}"


@allowed(Role.ORGANISER, Role.ANALYST)
def blinding(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show guesses against chance, and how often applications named themselves."""
    return _page(request, access)


@allowed(Role.ORGANISER)
@require_POST
def scan_dialogues(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Search every page that testers and annotators can currently open, and show unblinding words."""
    search = search_pages(access.hosted, request)
    counts = {"pages": search.pages, "people": search.people, "leaks": len(search.leaks)}
    access.audit("searched pages for unblinding words", f"study {access.hosted.token}", **counts)
    return _page(request, access, crawled=search)


def _page(request: HttpRequest, access: AccessContext, **more: object) -> HttpResponse:
    event = event_of(access.hosted)
    lines = [_leak_line(leak) for leak in leaks(event)]
    context = {"access": access, "leaks": lines, "few": figures.FEW, "namings": naming_counts(event), **more}
    return render(request, "web/organiser/blinding.html", context)


def _surprise(assessment: BlindingAssessment) -> str:
    if assessment.p_value is not None:
        return f"{assessment.p_value:.3f}"
    if not isinstance(assessment.rate, Estimate):
        return ""
    return undefined_text(Undefined(reason=TOO_FEW_GUESSES.format(fewest=FEWEST_GUESSES), n=assessment.rate.n))


def _leak_line(assessment: BlindingAssessment) -> LeakLine:
    rate = assessment.rate
    known = isinstance(rate, Estimate)
    n, n_right = (rate.n, rate.count or 0) if isinstance(rate, Estimate) else (0, 0)
    return LeakLine(
        about=assessment.about.value,
        level=assessment.level.value if assessment.level else "all levels",
        right=figures.share(n_right, n) if known else "no guesses",
        between=_between(rate) if isinstance(rate, Estimate) else "",
        chance=figures.percent(assessment.chance) if known else "",
        surprise=_surprise(assessment),
        n_unknown=assessment.n_unknown,
        n_repeated=assessment.n_repeated,
        line=share_line(rate),
        chance_at=share_place(assessment.chance),
        strip=unit_strip(n_right, n - n_right, assessment.n_unknown) if 0 < n < figures.FEW else None,
    )


def _between(rate: Estimate) -> str:
    if rate.n < figures.FEW or rate.low is None or rate.high is None:
        return "too few to tell"
    return f"{figures.percent(rate.low)} to {figures.percent(rate.high)}"
