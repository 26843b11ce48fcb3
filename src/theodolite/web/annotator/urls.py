"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.annotator import about, home, room, sitting, topics, training

app_name = "annotator"
urlpatterns = [
    path("", home.home, name="home"),
    path("about/", about.about, name="about"),
    path("topics/", topics.topics, name="topics"),
    path("next/", sitting.take, name="take"),
    path("d/<slug:claim>/", sitting.sheet, name="sheet"),
    path("d/<slug:claim>/answer/", sitting.answer, name="answer"),
    path("d/<slug:claim>/undo/", sitting.undo, name="undo"),
    path("d/<slug:claim>/submit/", sitting.submit, name="submit"),
    path("d/<slug:claim>/release/", sitting.release, name="release"),
    path("d/<slug:claim>/skip/", sitting.skip, name="skip"),
    path("d/<slug:claim>/flag/", sitting.flag, name="flag"),
    path("d/<slug:claim>/comment/", sitting.comment, name="comment"),
    path("read/<slug:subject>/", training.read, name="read"),
    path("practice/<slug:category>/<int:example>/", training.practice, name="practice"),
    path("test/<slug:category>/<int:example>/", training.qualify, name="qualify"),
    path("test/<slug:category>/", training.result, name="result"),
    path("room/<slug:room>/", room.room, name="room"),
    path("room/<slug:room>/vote/", room.vote, name="room_vote"),
    path("room/<slug:room>/say/", room.say, name="room_say"),
]
