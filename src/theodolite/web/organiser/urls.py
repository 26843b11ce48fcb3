"""Addresses of organisers and analysts, below `/s/<study>/organise/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.organiser import home, results
from theodolite.web.questions import preview

app_name = "organiser"
urlpatterns = [
    path("", home.home, name="home"),
    path("results/", results.results, name="results"),
    path("questions/", preview.instruments, name="questions"),
    path("questions/<str:name>/", preview.instrument, name="question"),
]
