"""Authorisation: roles, second factors, and the audit log.

Every view declares its permissions. A page that an account may not know about answers 404, never 403.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, cast
from urllib.parse import urlencode

from allauth.mfa.utils import is_mfa_enabled
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from theodolite.domain.event import Role, why_not_both
from theodolite.web.models import Account, AuditEntry, HostedStudy, Membership

ANYBODY, SIGNED_IN, HOST = "anybody", "signed in", "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessContext:
    """The account, study and membership of an authorised request.

    Attributes:
        account: The signed-in account.
        hosted: The study in the address.
        membership: The first membership that gives access to the page, in the order of the view's roles.
    """

    account: Account
    hosted: HostedStudy
    membership: Membership

    @property
    def role(self) -> Role:
        """The role that opened the page."""
        return self.membership.as_role

    @property
    def role_home(self) -> str:
        """The home page of this role in this study."""
        return role_home(self.membership)

    @property
    def lacks_factor(self) -> bool:
        """Whether the account must set up a second factor before it may use this role."""
        return lacks_factor(self.account, required_roles(self.hosted), self.role)

    def audit(self, verb: str, subject: str = "", **facts: Any) -> AuditEntry:
        """Record an action of this account in the audit log of this study; see `audit`."""
        return audit(self.account, verb, subject, hosted=self.hosted, **facts)


View = Callable[..., Any]
"""A view function, plain or async."""


def allowed(*roles: Role) -> Callable[[View], View]:
    """Open a view of a study to some roles; the address holds the study's token as `study`.

    The view is called as `view(request, access, ...)`, plain or async. Anonymous users are redirected to the
    sign-in page, and accounts without a required second factor to its setup page; accounts
    without one of the roles get 404.

    Args:
        roles: At least one.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def plain(request: HttpRequest, study: str, **rest: Any) -> Any:
            access = _access_context(request, study, roles)
            return view(request, access, **rest) if isinstance(access, AccessContext) else access

        @functools.wraps(view)
        async def awaited(request: HttpRequest, study: str, **rest: Any) -> Any:
            access = await sync_to_async(_access_context)(request, study, roles)
            return await view(request, access, **rest) if isinstance(access, AccessContext) else access

        return _marked(awaited if iscoroutinefunction(view) else plain, frozenset(roles))

    return decorate


def _access_context(request: HttpRequest, study: str, roles: tuple[Role, ...]) -> AccessContext | HttpResponseBase:
    if not isinstance(request.user, Account):
        return redirect_to_login(request.get_full_path())
    access = access_of(request.user, study, roles)
    if access is None:
        raise Http404
    return to_second_factor(request) if access.lacks_factor else access


def access_of(account: Account, study: str, roles: Sequence[Role]) -> AccessContext | None:
    """Return the access of an account to a study by the first of some roles that it has; None if it has none.

    Pages and the API both use this function; both also refuse access that lacks a second factor.
    """
    memberships = Membership.objects.select_related("hosted").filter(
        account=account, hosted__token=study, role__in=[role.value for role in roles], left_at=None
    )
    by_role = {membership.as_role: membership for membership in memberships}
    for role in roles:
        if role in by_role:
            return AccessContext(account=account, hosted=by_role[role].hosted, membership=by_role[role])
    return None


def to_second_factor(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the setup of a second factor, which returns to the request."""
    return redirect(f"{reverse('second_factor')}?{urlencode({'next': request.get_full_path()})}")


def signed_in(view: View) -> View:
    """Open a view to all who are signed in; `request.user` is then an `Account`."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, **rest: Any) -> Any:
        if not isinstance(request.user, Account):
            return redirect_to_login(request.get_full_path())
        return view(request, **rest)

    return _marked(guarded, SIGNED_IN)


def hosts_only(view: View) -> View:
    """Open a view to accounts that may put studies on this server."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, **rest: Any) -> Any:
        if not isinstance(request.user, Account):
            return redirect_to_login(request.get_full_path())
        if not request.user.is_host:
            raise Http404
        if lacks_factor(request.user, required_by_server(), Role.ORGANISER):
            return to_second_factor(request)
        return view(request, **rest)

    return _marked(guarded, HOST)


def open_to_all(view: View) -> View:
    """Mark a view as public; every view needs an explicit decision."""
    return _marked(view, ANYBODY)


def account_of(request: HttpRequest) -> Account:
    """Return the signed-in account, in a view that requires one."""
    return cast("Account", request.user)


def _marked(view: View, who: object) -> View:
    view.access = who  # type: ignore[attr-defined] # read by the test that asks every address who may see it
    return view


FACTOR_ROLES = (Role.ORGANISER, Role.SENIOR, Role.ANALYST, Role.TEAM)
"""Roles that can require one: those that join by link and have a password. A printed code has no second factor."""


def required_by_server() -> frozenset[Role]:
    """Return the roles that need a second factor in every study of this server."""
    return frozenset(Role(role) for role in settings.SECOND_FACTOR)


def required_roles(hosted: HostedStudy) -> frozenset[Role]:
    """Return the roles that need a second factor in a study: those of the server and of the study."""
    return required_by_server() | {Role(role) for role in hosted.second_factor}


def lacks_factor(account: Account, roles: frozenset[Role], role: Role) -> bool:
    """Return whether a person in a role must first set up a second factor.

    Args:
        account: The person.
        roles: Roles that need one.
        role: The person's role.
    """
    return role in roles and not is_mfa_enabled(account)


HOME_PAGES = {
    Role.ORGANISER: "organiser:home",
    Role.SENIOR: "senior:home",
    Role.ANNOTATOR: "annotator:home",
    Role.RED_TEAMER: "tester:home",
    Role.FIELD_TESTER: "tester:home",
    Role.ANALYST: "organiser:results",
    Role.TEAM: "teams:home",
}
"""Names of the home pages."""


def role_home(membership: Membership) -> str:
    """Return the address of the home page of a role."""
    return reverse(HOME_PAGES[membership.as_role], args=[membership.hosted.token])


_WORDS = {
    Role.ORGANISER: _("organiser"),
    Role.SENIOR: _("senior annotator"),
    Role.ANNOTATOR: _("annotator"),
    Role.RED_TEAMER: _("red teamer"),
    Role.FIELD_TESTER: _("field tester"),
    Role.ANALYST: _("analyst"),
    Role.TEAM: _("application team"),
}


def role_words(role: str) -> str:
    """Return the name of a role in the language of the page; empty if there is none."""
    return str(_WORDS[Role(role)]) if role else ""


def clash_of(account: Account, hosted: HostedStudy, role: Role) -> str:
    """Return the reason why a person cannot have an additional role in a study; empty if they can."""
    memberships = list(Membership.objects.filter(account=account, hosted=hosted))
    return why_not_both(
        role,
        has=[membership.as_role for membership in memberships if membership.left_at is None],
        had=[membership.as_role for membership in memberships],
    )


def clash_of_address(email: str, hosted: HostedStudy, role: Role) -> str:
    """Same check by e-mail address; empty for an unknown address."""
    account = Account.objects.filter(email=email.strip().lower()).first() if email else None
    return clash_of(account, hosted, role) if account else ""


def audit(
    actor: object, verb: str, subject: str = "", *, hosted: HostedStudy | None = None, **facts: Any
) -> AuditEntry:
    """Add an action to the audit log; call it in the same transaction as the action.

    Args:
        actor: The account; any other value (a stranger, None for the server) is recorded without a person.
        verb: The action, in the past tense.
        subject: The object of the action: kind and token.
        hosted: The study concerned.
        facts: Further facts as JSON; never secrets or texts of people.
    """
    who = actor.token if isinstance(actor, Account) else ""
    return AuditEntry.objects.create(actor=who, verb=verb, subject=subject, hosted=hosted, facts=facts)
