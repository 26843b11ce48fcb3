"""Every address of `theodolite view` says who may open it, and nothing of `theodolite serve` is among them."""

from __future__ import annotations

from theodolite.web import urls as served
from theodolite.web.access import ANYBODY
from theodolite.web.viewer.studies import LOCAL
from theodolite.web.viewer.urls import urlpatterns

OPEN = {"enter", "static"}


def test_all_addresses_except_sign_in_and_assets_are_closed_to_other_browsers():
    access = {pattern.name: getattr(pattern.callback, "access", None) for pattern in urlpatterns}

    assert {name for name, who in access.items() if who == ANYBODY} == OPEN
    assert {name for name, who in access.items() if who == LOCAL} == set(access) - OPEN


def test_no_page_with_accounts_is_reachable():
    shared = {getattr(pattern, "callback", None) for pattern in served.urlpatterns}
    shared &= {pattern.callback for pattern in urlpatterns}

    assert {getattr(view, "__name__", "") for view in shared if view} == {"static_file"}
