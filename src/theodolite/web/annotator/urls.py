"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.annotator import annotate, calibration, home, practice

app_name = "annotator"
urlpatterns = [
    path("", home.home, name="home"),
    path("about/", home.about, name="about"),
    path("topics/", home.topics, name="topics"),
    path("next/", annotate.take, name="take"),
    path("d/<slug:reservation>/", annotate.sheet, name="sheet"),
    path("d/<slug:reservation>/answer/", annotate.answer, name="answer"),
    path("d/<slug:reservation>/undo/", annotate.undo, name="undo"),
    path("d/<slug:reservation>/submit/", annotate.submit, name="submit"),
    path("d/<slug:reservation>/release/", annotate.release, name="release"),
    path("d/<slug:reservation>/skip/", annotate.skip, name="skip"),
    path("d/<slug:reservation>/flag/", annotate.flag, name="flag"),
    path("d/<slug:reservation>/comment/", annotate.comment, name="comment"),
    path("read/<slug:subject>/", practice.read, name="read"),
    path("practice/<slug:category>/<int:example>/", practice.practice, name="practice"),
    path("test/<slug:category>/<int:example>/", practice.qualify, name="qualify"),
    path("test/<slug:category>/", practice.result, name="result"),
    path("room/<slug:room>/", calibration.room, name="room"),
    path("room/<slug:room>/vote/", calibration.vote, name="room_vote"),
    path("room/<slug:room>/say/", calibration.say, name="room_say"),
]
