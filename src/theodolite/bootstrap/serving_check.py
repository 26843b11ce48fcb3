"""`serve --check`: what is wrong or unsafe about how the web side would be served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network

from theodolite.bootstrap.serving import SECRET_FILE, Serving, open_server
from theodolite.config.diagnostics import LocatedDiagnostic, render_diagnostics
from theodolite.config.serving import ServingSettings
from theodolite.config.study_files import SERVING
from theodolite.domain.fault import Severity

_SHORTEST_KEY = 50

_NOT_OURS = {"W021", "W005"}
"""Django's advice on other hosts below the same name: only their owner can tell."""

_ONLY_HTTPS = {"W004", "W008", "W012", "W016"}
"""Django's advice that makes sense where people call by https."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found, worst first."""

    placed: tuple[LocatedDiagnostic, ...]

    @property
    def faults(self) -> tuple[LocatedDiagnostic, ...]:
        """What must be mended before anybody is invited."""
        return tuple(each for each in self.placed if each.severity is Severity.FAULT)


def told(checked: Checked, *, color: bool = False) -> str:
    """Return what was found in words."""
    shown = (
        [render_diagnostics(checked.placed, limit=None, color=color, ending="Nothing was served.")]
        if checked.placed
        else []
    )
    return "\n".join([*shown, *([] if checked.faults else ["0 errors: ready to serve."])])


def check_serving(serving: Serving) -> Checked:
    """Return what is wrong or unsafe, after bringing the database up to date.

    Raises:
        StorageUnavailable: If folder or database cannot be reached.
    """
    open_server(serving)
    found = [
        *_of_connection(serving.settings),
        *_of_mail(serving.settings),
        *_of_key(serving),
        *_of_workspace(serving),
        *_of_django(serving),
    ]
    return Checked(placed=tuple(sorted(found, key=lambda each: each.severity is not Severity.FAULT)))


def _of_connection(settings: ServingSettings) -> Iterator[LocatedDiagnostic]:
    if settings.is_https and not settings.proxies:
        yield _fault("`address` begins with https and `proxies` names nobody whose word on https could be taken")
    if not settings.is_https and not settings.is_private:
        words = "passwords and dialogues travel in plain words; put a proxy with https in front, or stay in one room"
        yield _note(f"people call `{settings.address or settings.host}` by http: {words}")
    for proxy in settings.proxies:
        if ip_network(proxy, strict=False).prefixlen == 0:
            yield _fault(f"`{proxy}` of `proxies` is everybody; name the proxy's own address")


def _of_mail(settings: ServingSettings) -> Iterator[LocatedDiagnostic]:
    if settings.mail is None:
        yield _note("no mail is sent: hand invitations over as links, and give new ones to who forgot a password")
    elif settings.mail.encryption == "none" and settings.mail.user:
        yield _fault("`mail` signs in without encryption; expected `starttls` or `tls`")


def _of_key(serving: Serving) -> Iterator[LocatedDiagnostic]:
    if serving.settings.secret_key:
        if len(serving.settings.secret_key) < _SHORTEST_KEY:
            yield _fault("`THEODOLITE_SECRET_KEY` is short; expected 50 characters or more that nobody can guess")
        return
    file = serving.workspace / SECRET_FILE
    if file.stat().st_mode & 0o077:
        yield _fault(f"others on this machine may read `{file}`; type: chmod 600 {file}")


def _of_workspace(serving: Serving) -> Iterator[LocatedDiagnostic]:
    """Yield a fault where others on this machine can read what people have said."""
    mode = serving.workspace.stat().st_mode & 0o777
    if mode & 0o077:
        words = f"others on this machine may enter `{serving.workspace}` (mode {mode:04o}), which holds people's words"
        yield _fault(f"{words}; type: chmod 700 {serving.workspace}")


def _of_django(serving: Serving) -> Iterator[LocatedDiagnostic]:
    """Yield what the web framework's own check finds, in its words."""
    from django.core.checks import run_checks

    for each in run_checks(include_deployment_checks=True):
        number = str(each.id).rpartition(".")[2]
        if number in _NOT_OURS or (number in _ONLY_HTTPS and not serving.settings.is_https):
            continue
        severity = Severity.FAULT if each.is_serious() else Severity.NOTE
        yield LocatedDiagnostic(file=str(each.id), message=" ".join(str(each.msg).split()), severity=severity)


def _fault(message: str) -> LocatedDiagnostic:
    return LocatedDiagnostic(file=SERVING, message=message)


def _note(message: str) -> LocatedDiagnostic:
    return LocatedDiagnostic(file=SERVING, message=message, severity=Severity.NOTE)
