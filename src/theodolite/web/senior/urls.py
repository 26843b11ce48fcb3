"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.senior import home

app_name = "senior"
urlpatterns = [
    path("", home.home, name="home"),
]
