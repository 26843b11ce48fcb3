"""Every address of `theodolite view`. No page of `theodolite serve` is among them."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from theodolite.web import middleware
from theodolite.web.viewer import studies

urlpatterns: list[URLPattern | URLResolver] = [
    path("enter/<slug:token>/", studies.enter, name="enter"),
    path("", studies.home, name="home"),
    path("study/<slug:study>/", studies.study, name="study"),
    path("study/<slug:study>/live/", studies.live, name="live"),
    path("study/<slug:study>/new/", studies.new_run, name="new_run"),
    path("study/<slug:study>/endpoints/", studies.check_endpoints, name="check_endpoints"),
    path("study/<slug:study>/allow/", studies.allow, name="allow"),
    path("study/<slug:study>/stop/", studies.stop, name="stop"),
    path("static/<slug:version>/<path:path>", middleware.static_file, name="static"),
]
