"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.tester import home

app_name = "tester"
urlpatterns = [
    path("", home.home, name="home"),
]
