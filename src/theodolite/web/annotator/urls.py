"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.annotator import home, sitting

app_name = "annotator"
urlpatterns = [
    path("", home.home, name="home"),
    path("next/", sitting.take, name="take"),
    path("d/<slug:claim>/", sitting.sheet, name="sheet"),
    path("d/<slug:claim>/answer/", sitting.answer, name="answer"),
    path("d/<slug:claim>/undo/", sitting.undo, name="undo"),
    path("d/<slug:claim>/submit/", sitting.submit, name="submit"),
    path("d/<slug:claim>/release/", sitting.release, name="release"),
    path("d/<slug:claim>/skip/", sitting.skip, name="skip"),
]
