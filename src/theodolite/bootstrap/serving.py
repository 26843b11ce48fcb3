"""The web server, and checks of its settings."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from ipaddress import ip_network
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import TYPE_CHECKING

import uvicorn
from django.core.checks import run_checks
from django.db import connections
from filelock import FileLock, Timeout

from theodolite.assessment.manual_annotation import person_of
from theodolite.bootstrap.database import configure_django, database_settings, make_workspace
from theodolite.bootstrap.http_limits import BoundedProtocol
from theodolite.bootstrap.observers import metrics_token, process_metrics, start_traces
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.bootstrap.viewing import LocalStudies
from theodolite.bootstrap.web_settings import DEMO, WEB, machine_names, serving_settings, viewing_settings
from theodolite.config.permissions import SERVING, made_secret, workspace_for
from theodolite.config.serving import LOOPBACK, ServingSettings
from theodolite.config.yaml_source import LocatedDiagnostic, render_diagnostics
from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotating.work import QueueCategory, QueueDesign
from theodolite.domain.errors import InputError, Severity, StorageUnavailable
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.shown_order import OrderPlan
from theodolite.domain.study import Study
from theodolite.usecases.labels import LabelRequest, draw_labels, guideline_for, judge_for

if TYPE_CHECKING:
    from theodolite.annotation.records import RecordCache


SECRET_FILE = "secret.key"  # noqa: S105 - the name of a file
"""File of a workspace that holds the key which signs cookies and links."""

TURN_S = 0.0005
"""How long a thread runs before another may continue; seconds. With Python's 5 ms, streamed words stutter."""

GRACE_S = 2
"""How long open streams may continue after the server is stopped; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Content and settings of a server.

    Attributes:
        workspace: Folder of database and key.
        settings: How.
        database_url: A PostgreSQL database; None for the workspace's own file.
        study: Folder of a study to host; empty for none.
        demo: Whether to seed an event with one-click accounts; on this machine only.
    """

    workspace: Path
    settings: ServingSettings
    database_url: str | None = None
    study: str = ""
    demo: bool = False

    def __post_init__(self) -> None:
        """Reject settings that would admit strangers."""
        if self.demo and (not self.settings.is_private or self.settings.address or self.settings.proxies):
            message = (
                "`--demo` lets everybody in with one click, so it serves this machine only; "
                f"got `{self.settings.address or self.settings.host}`"
            )
            raise InputError(message)
        if self.demo and self.study:
            message = f"`--demo` brings its own study; leave `{self.study}` out, or leave `--demo` out"
            raise InputError(message)


def secret_key_of(workspace: Path) -> str:
    """Return the key that signs cookies and links of a workspace; created by the first call.

    Raises:
        StorageUnavailable: If it can be neither read nor written.
    """
    file = workspace / SECRET_FILE
    try:
        return made_secret(file)
    except OSError as error:
        message = f"the key `{file}` could not be read or made: {error}. Give yourself the right to write there."
        raise StorageUnavailable(message) from error


def open_server(serving: Serving) -> None:
    """Create the workspace, set Django up for the web side and migrate all tables.

    Raises:
        StorageUnavailable: If folder or database cannot be reached.
        WrongSchema: If the database was written by a newer version of this program.
    """
    make_workspace(serving.workspace)
    database = database_settings(serving.workspace, serving.database_url)
    key = serving.settings.secret_key or secret_key_of(serving.workspace)
    settings = serving_settings(database, secret_key=key, serving=serving.settings, demo=serving.demo)
    configure_django(database, settings | {"WORKSPACE": serving.workspace, "DATABASE_URL": serving.database_url})
    from theodolite.bootstrap.migration import migrate

    migrate(serving.workspace, database, whole=True)


def serve(serving: Serving, tell: Callable[[str], None]) -> None:
    """Serve the web side until it is stopped.

    Args:
        serving: How.
        tell: Receives lines with the server's address, once it listens.

    Raises:
        InputError: If the address cannot be listened on.
        StorageUnavailable: If folder or database cannot be reached.
    """
    _write_for_the_operator_alone()
    metrics_token(os.environ)  # too short a token is an error
    start_traces(os.environ)
    process_metrics()
    open_server(serving)
    lines: tuple[str, ...]
    if serving.demo:
        lines = import_module(f"{DEMO}.event").opening_lines(str(serving.workspace.parent))
    else:
        lines = import_module(f"{WEB}.accounts.invitations").opening_lines(serving.study)
    with server_lock(serving.workspace) as is_only:
        listen(serving, lines if is_only else (*lines, SECOND_SERVER), tell)


SECOND_SERVER = (
    "Warning: another web server uses this database. Run one web process per database: this start has marked replies"
    " of the other one as interrupted, and testers see only replies of the process that they are connected to."
)
"""Line for the operator of a second process; shared resources are listed in `docs/how-to/run-on-a-server.md`."""

SERVER_LOCK = 1_416_127_560
"""Number of the PostgreSQL lock that a web server holds while it runs; `store/limits.py` uses the previous number."""


@contextmanager
def server_lock(workspace: Path) -> Iterator[bool]:
    """Lock the database for one web server while the block runs, and yield whether the lock was free.

    The lock ends with the process: PostgreSQL drops it with the connection, the operating system with the file.

    Args:
        workspace: Folder of the workspace.
    """
    connection = connections.create_connection("default")
    if connection.vendor != "postgresql":
        lock = FileLock(workspace / "serve.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [SERVER_LOCK])
            yield bool(cursor.fetchone()[0])
    finally:
        connection.close()


def listen(
    serving: Serving, lines: tuple[str, ...], tell: Callable[[str], None], *, application: str = f"{WEB}.asgi"
) -> None:
    """Answer requests until the server is stopped; Django must be set up.

    Args:
        serving: How.
        lines: Text for when the server listens; `{address}` is replaced by its address.
        tell: Receives these lines.
        application: Module of the ASGI application.

    Raises:
        InputError: If the address cannot be listened on.
    """
    _write_for_the_operator_alone()
    _log_errors_only()
    sys.setswitchinterval(TURN_S)
    settings = serving.settings
    listening = _listening(settings.host, settings.port)
    address = settings.address or _address(settings.host, listening.getsockname()[1])
    for line in lines:
        tell(line.format(address=address))
    config = uvicorn.Config(
        f"{application}:application",
        http=BoundedProtocol,
        ws="none",
        log_config=None,
        server_header=False,
        access_log=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_graceful_shutdown=GRACE_S,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _write_for_the_operator_alone() -> None:
    """Make the server's files unreadable for other users of this machine."""
    os.umask(0o077)


def _log_errors_only() -> None:
    """Log only problems that the operator can fix: no line for each missing page."""
    logging.getLogger("django.request").setLevel(logging.ERROR)
    logging.getLogger("django.security.DisallowedHost").setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def _address(host: str, port: int) -> str:
    """Return the public address of a server without a configured one."""
    numbers = [name for name in machine_names(host) if name[:1].isdigit() and name not in LOOPBACK]
    shown = host if host in LOOPBACK or not numbers else numbers[0]
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(2048)  # clients that call before the server is ready wait
    except OSError as error:
        listening.close()
        message = f"nothing can listen on `{host}:{port}`: {error.strerror}. Name another one:  --listen HOST:PORT"
        raise InputError(message) from error
    return listening


_SHORTEST_KEY = 50

_NOT_OURS = {"W021", "W005"}
"""Django's advice on other hosts below the same name, which only their owner can decide."""

_ONLY_HTTPS = {"W004", "W008", "W012", "W016"}
"""Django's advice that applies to servers with https."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Findings, worst first."""

    placed: tuple[LocatedDiagnostic, ...]

    @property
    def faults(self) -> tuple[LocatedDiagnostic, ...]:
        """Problems to fix before people are invited."""
        return tuple(item for item in self.placed if item.severity is Severity.ERROR)


def check_text(checked: Checked, *, color: bool = False) -> str:
    """Return the results in words."""
    shown = (
        [render_diagnostics(checked.placed, limit=None, color=color, ending="Nothing was served.")]
        if checked.placed
        else []
    )
    return "\n".join([*shown, *([] if checked.faults else ["0 errors: ready to serve."])])


def check_serving(serving: Serving) -> Checked:
    """Return errors and unsafe settings, after migrating the database.

    Raises:
        StorageUnavailable: If folder or database cannot be reached.
    """
    open_server(serving)
    result = [
        *_of_connection(serving.settings),
        *_of_mail(serving.settings),
        *_of_key(serving),
        *_of_workspace(serving),
        *_of_django(serving),
    ]
    return Checked(placed=tuple(sorted(result, key=lambda item: item.severity is not Severity.ERROR)))


def _of_connection(settings: ServingSettings) -> Iterator[LocatedDiagnostic]:
    if settings.is_https and not settings.proxies:
        yield _diagnostic("`address` begins with https and `proxies` names nobody whose word on https could be taken")
    if not settings.is_https and not settings.is_private:
        text = "passwords and dialogues travel in plain words; put a proxy with https in front, or stay in one room"
        yield _note(f"people call `{settings.address or settings.host}` by http: {text}")
    for proxy in settings.proxies:
        if ip_network(proxy, strict=False).prefixlen == 0:
            yield _diagnostic(f"`{proxy}` of `proxies` is everybody; name the proxy's own address")


def _of_mail(settings: ServingSettings) -> Iterator[LocatedDiagnostic]:
    if settings.mail is None:
        yield _note("no mail is sent: hand invitations over as links, and give new ones to who forgot a password")
    elif settings.mail.encryption == "none" and settings.mail.user:
        yield _diagnostic("`mail` signs in without encryption; expected `starttls` or `tls`")


def _of_key(serving: Serving) -> Iterator[LocatedDiagnostic]:
    if serving.settings.secret_key:
        if len(serving.settings.secret_key) < _SHORTEST_KEY:
            yield _diagnostic("`THEODOLITE_SECRET_KEY` is short; expected 50 characters or more that nobody can guess")
        return
    file = serving.workspace / SECRET_FILE
    if file.stat().st_mode & 0o077:
        yield _diagnostic(f"others on this machine may read `{file}`; type: chmod 600 {file}")


def _of_workspace(serving: Serving) -> Iterator[LocatedDiagnostic]:
    """Yield an error if other users of this machine can read people's texts."""
    mode = serving.workspace.stat().st_mode & 0o777
    if mode & 0o077:
        text = f"others on this machine may enter `{serving.workspace}` (mode {mode:04o}), which holds people's words"
        yield _diagnostic(f"{text}; type: chmod 700 {serving.workspace}")


def _of_django(serving: Serving) -> Iterator[LocatedDiagnostic]:
    """Yield the messages of the web framework's own check."""
    for run_check in run_checks(include_deployment_checks=True):
        number = str(run_check.id).rpartition(".")[2]
        if number in _NOT_OURS or (number in _ONLY_HTTPS and not serving.settings.is_https):
            continue
        severity = Severity.ERROR if run_check.is_serious() else Severity.NOTE
        yield LocatedDiagnostic(file=str(run_check.id), message=" ".join(str(run_check.msg).split()), severity=severity)


def _diagnostic(message: str) -> LocatedDiagnostic:
    return LocatedDiagnostic(file=SERVING, message=message)


def _note(message: str) -> LocatedDiagnostic:
    return LocatedDiagnostic(file=SERVING, message=message, severity=Severity.NOTE)


def view(path: str, tell: Callable[[str], None], *, port: int = 0) -> None:
    """Serve the studies of a folder to one person on this machine until it is stopped.

    Args:
        path: A folder with studies, or a study.
        tell: Receives lines with the server's address, once it listens.
        port: Port to listen on; 0 for any that is free.

    Raises:
        InputError: If there is no such folder, or the port cannot be listened on.
    """
    viewed = LocalStudies(root=path, umask=_present_umask())
    settings = ServingSettings(host=LOOPBACK_HOST, port=port)
    serving = Serving(workspace=workspace_for(Path(path)), settings=settings)
    own = viewing_settings(secret_key=token_urlsafe(48), cookie=token_hex(4))
    configure_django(own["DATABASES"]["default"], own)
    link = import_module(f"{WEB}.viewer.studies").one_time_link(viewed)
    lines = (
        f"Studies    {path}",
        "Open once  {address}" + link,
        "For one person on this machine. Runs continue when this server ends. Ctrl-C ends it.",
    )
    with suppress(KeyboardInterrupt):  # the server has shut down in order and passes the signal on
        listen(serving, lines, tell, application=f"{WEB}.viewer.asgi")


def _present_umask() -> int:
    """Return the mask of the process: runs write reports under it, while the server writes for the operator alone."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


OWN_PACE = AnnotationProcess(passes=1, practice=False, pass_mark=0.0)
"""The process of one person who labels on this machine: each dialogue once, without a test."""

LOOPBACK_HOST = "127.0.0.1"
"""The only address that a page without an account is served on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDesk:
    """A page for one person who labels.

    Attributes:
        study: The study's path as typed by the user, quoted for a shell.
        guideline: Name of the guideline that is labelled by.
        judge: Judge whose labels stratify the sample; empty for none.
        annotator: Name under which the labels count.
        queue: Token of the queue.
        door: Path of the address that admits a person once.
        n_open: Dialogues without a label of the person; count.
    """

    study: str
    guideline: str
    judge: str
    annotator: str
    queue: str
    door: str
    n_open: int


def open_label_desk(
    path: str, request: LabelRequest, *, by: str, database_url: str | None, port: int
) -> tuple[Serving, LabelDesk]:
    """Draw the sample, add it to a queue for this person and open the page.

    Unlabelled dialogues of an earlier sample come first and count.

    Raises:
        InputError: If the sample is ambiguous, nothing is left, or the name is a judge's.
        StudyError: If the study has errors; lists all of them.
    """
    start = Path(path)
    if not start.exists():
        message = f"a study's folder or file was expected; there is no `{path}`"
        raise InputError(message)
    folder = start if start.is_dir() else start.parent
    settings = ServingSettings(host=LOOPBACK_HOST, port=port)
    serving = Serving(workspace=workspace_for(folder), database_url=database_url, settings=settings)
    open_server(serving)
    context = open_study(path)
    try:
        return serving, _prepared(context, request, by, serving.workspace)
    finally:
        context.close()


def serve_label_desk(serving: Serving, desk: LabelDesk, lines: tuple[str, ...], tell: Callable[[str], None]) -> int:
    """Serve the page until it is stopped, and return how many dialogues this person has labelled; count."""
    before = _n_labelled(desk)
    with suppress(KeyboardInterrupt):  # the server has shut down in order and passes the signal on
        listen(serving, lines, tell)
    return _n_labelled(desk) - before


def waiting(desk: LabelDesk) -> int:
    """Return the number of open dialogues; count."""
    from theodolite.annotation.queues import n_waiting

    return n_waiting(desk.queue)


def _prepared(context: StudyContext, request: LabelRequest, by: str, workspace: Path) -> LabelDesk:
    from theodolite.annotation.queues import n_waiting, open_queue
    from theodolite.annotation.records import RecordCache
    from theodolite.store.contents import Contents

    study, records = context.loaded.study, RecordCache(Contents(workspace / "blobs"))
    guideline = guideline_for(study, request.guideline)
    judge = judge_for(study, guideline, request.judge)
    person = person_of(study, by, guideline.name)
    login = import_module(f"{WEB}.annotator.home").one_time_login(
        study=study.name, guideline=guideline.name, by=person.name
    )
    queue = open_queue(records, login.hosted, study, _design(study, guideline), by=person.name)
    _fill(context, request, records, queue, n_waiting(queue))
    return LabelDesk(
        study=context.path,
        guideline=guideline.name,
        judge=judge.name if judge else "",
        annotator=person.name,
        queue=queue,
        door=login.path,
        n_open=n_waiting(queue),
    )


def _design(study: Study, guideline: Guideline) -> QueueDesign:
    category = QueueCategory(name=guideline.name, version=version_of(guideline))
    order = study.annotation.order if study.annotation else OrderPlan()
    process = replace(OWN_PACE, order=order, seed=study.sampling.seed)
    return QueueDesign(study=study.name, categories=(category,), process=process)


def _fill(context: StudyContext, request: LabelRequest, records: RecordCache, queue: str, n_before: int) -> None:
    """Draw as many dialogues as the required number still lacks."""
    from theodolite.annotation.queues import add_dialogues

    requested = request.n - n_before
    if requested <= 0:
        return
    try:
        sampled = draw_labels(context.evidence(), replace(request, n=requested))
    except InputError:
        if not n_before:
            raise
        return  # everything is drawn already, and some of it still waits
    context.store.file(LabelSample.subject(context.loaded.study.name), sampled.sample)
    add_dialogues(records, queue, [dialogue.dialogue for dialogue in sampled.sample.dialogues])


def _n_labelled(desk: LabelDesk) -> int:
    from theodolite.annotation.queues import n_submitted

    return n_submitted(desk.queue)
