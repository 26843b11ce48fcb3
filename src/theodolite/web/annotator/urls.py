"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.annotator import home

app_name = "annotator"
urlpatterns = [
    path("", home.home, name="home"),
]
