"""Addresses of organisers and analysts, below `/s/<study>/organise/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.organiser import audit_log, home, results, submissions
from theodolite.web.questions import preview

app_name = "organiser"
urlpatterns = [
    path("", home.home, name="home"),
    path("audit/", audit_log.audit_log, name="audit"),
    path("results/", results.results, name="results"),
    path("questions/", preview.instruments, name="questions"),
    path("questions/<str:name>/", preview.instrument, name="question"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/<slug:submission>/", submissions.submission, name="submission"),
]
