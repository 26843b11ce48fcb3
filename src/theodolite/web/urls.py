"""Every address of the web side. A page of a study lies below `/s/<study>/<group>/`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from theodolite.web import middleware
from theodolite.web.accounts import home, sign_in
from theodolite.web.annotator import one_time_login
from theodolite.web.organiser import studies

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("comfort/", home.display_settings, name="comfort"),
    path("second-factor/", home.second_factor, name="second_factor"),
    path("account/email/", middleware.not_here, name="no_address_page"),
    path("account/confirm-email/", middleware.not_here, name="no_confirmation_page"),
    path("account/", include("allauth.urls")),
    path("start/<slug:words>/", sign_in.start, name="start"),
    path("join/<str:signed>/", sign_in.join, name="join"),
    path("code/", sign_in.code, name="code_entry"),
    path("code/<slug:words>/", sign_in.code, name="code"),
    path("from/<slug:link>/", sign_in.recruited, name="recruited"),
    path("studies/", studies.studies, name="studies"),
    path("s/<slug:study>/test/", include("theodolite.web.tester.urls")),
    path("s/<slug:study>/annotate/", include("theodolite.web.annotator.urls")),
    path("s/<slug:study>/review/", include("theodolite.web.senior.urls")),
    path("s/<slug:study>/organise/", include("theodolite.web.organiser.urls")),
    path("s/<slug:study>/team/", include("theodolite.web.teams.urls")),
    path("s/<slug:study>/analyse/", include("theodolite.web.analyst.urls")),
    path("label/<slug:token>/", one_time_login.enter, name="label_door"),
    path("static/<slug:version>/<path:path>", middleware.static_file, name="static"),
]
