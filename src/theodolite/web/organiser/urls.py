"""Addresses of organisers and analysts, below `/s/<study>/organise/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.organiser import home, results

app_name = "organiser"
urlpatterns = [
    path("", home.home, name="home"),
    path("results/", results.results, name="results"),
]
