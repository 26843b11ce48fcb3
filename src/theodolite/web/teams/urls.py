"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.teams import home

app_name = "teams"
urlpatterns = [
    path("", home.home, name="home"),
]
