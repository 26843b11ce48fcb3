"""Permission: every view says who may see it, and meets a study only through the membership of who asks.

What one may not know of is not found: 404, never 403.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, cast
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from theodolite.domain.people.role import Role
from theodolite.web.factors import lacks_factor, required_by_server, required_roles
from theodolite.web.models import Account, HostedStudy, Membership
from theodolite.web.role_home import role_home

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
        """The page on which this role begins in this study."""
        return role_home(self.membership)


View = Callable[..., Any]
"""A function that answers, plain or async."""


def allowed(*roles: Role) -> Callable[[View], View]:
    """Open a view of a study to some roles; the address holds the study's token as `study`.

    The view is called as `view(request, access, ...)`, plain or async. Who is not signed in is led to the
    sign-in page, who lacks a second factor that the role needs to the one where it is set up; for everybody
    else without one of the roles the page does not exist.

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
    account = request.user
    if not isinstance(account, Account):
        return redirect_to_login(request.get_full_path())
    found = {
        membership.as_role: membership
        for membership in Membership.objects.select_related("hosted").filter(
            account=account, hosted__token=study, role__in=[role.value for role in roles], left_at=None
        )
    }
    for role in roles:
        if role in found:
            if lacks_factor(account, required_roles(found[role].hosted), role):
                return to_second_factor(request)
            return AccessContext(account=account, hosted=found[role].hosted, membership=found[role])
    raise Http404


def to_second_factor(request: HttpRequest) -> HttpResponseBase:
    """Lead somebody to the page on which a second factor is set up, and from there back here."""
    return redirect(f"{reverse('second_factor')}?{urlencode({'next': request.get_full_path()})}")


def signed_in(view: View) -> View:
    """Open a view to everybody who is signed in; `request.user` is then an `Account`."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, **rest: Any) -> Any:
        if not isinstance(request.user, Account):
            return redirect_to_login(request.get_full_path())
        return view(request, **rest)

    return _marked(guarded, SIGNED_IN)


def hosts_only(view: View) -> View:
    """Open a view to those who may put studies on this server."""

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
    """Open a view to strangers; written down so that nobody forgets to decide."""
    return _marked(view, ANYBODY)


def account_of(request: HttpRequest) -> Account:
    """Return who is signed in, in a view that only opens to such people."""
    return cast("Account", request.user)


def _marked(view: View, who: object) -> View:
    view.access = who  # type: ignore[attr-defined] # read by the test that asks every address who may see it
    return view
