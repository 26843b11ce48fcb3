"""Addresses of application teams, below `/s/<study>/team/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.teams import home, submissions

app_name = "teams"
urlpatterns = [
    path("", home.home, name="home"),
    path("criteria/", home.criteria, name="criteria"),
    path("kit.zip", home.kit, name="kit"),
    path("new/", submissions.new, name="new"),
    path("<slug:submission>/", submissions.page, name="submission"),
    path("<slug:submission>/edit/", submissions.edit, name="edit"),
    path("<slug:submission>/check/", submissions.examine, name="examine"),
    path("<slug:submission>/submit/", submissions.submit, name="submit"),
    path("<slug:submission>/withdraw/", submissions.withdraw, name="withdraw"),
]
