"""Addresses of organisers and analysts, below `/s/<study>/organise/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.organiser import (
    audit_log,
    blinding,
    criteria,
    editions,
    ethics,
    home,
    links,
    operations,
    people,
    person,
    results,
    slips,
    slots,
    submissions,
)
from theodolite.web.schemas import instruments, pages, preview

app_name = "organiser"
urlpatterns = [
    path("", home.home, name="home"),
    path("audit/", audit_log.audit_log, name="audit"),
    path("editions/", editions.editions, name="editions"),
    path("results/", results.results, name="results"),
    path("results/measure/", results.measure_now, name="measure"),
    path("results/<slug:measurement>/<str:file>", results.measured_file, name="measured_file"),
    path("blinding/", blinding.blinding, name="blinding"),
    path("blinding/look/", blinding.look_through, name="look_through"),
    path("ethics/", ethics.ethics, name="ethics"),
    path("people/", people.people, name="people"),
    path("people/ask/", people.ask, name="ask"),
    path("people/list/", people.ask_many, name="ask_many"),
    path("people/slips/new/", people.make_slips, name="make_slips"),
    path("people/slips/", slips.slips, name="slips"),
    path("people/<slug:invitation>/remind/", people.remind, name="remind"),
    path("people/<slug:invitation>/take-back/", people.take_back, name="take_back"),
    path("people/remind/", person.remind_all, name="remind_all"),
    path("people/who/<slug:member>/", person.person, name="person"),
    path("people/who/<slug:member>/<slug:what>/", person.act, name="act"),
    path("slots/", slots.slots, name="slots"),
    path("slots/<slug:slot>/drop/", slots.drop_slot, name="drop_slot"),
    path("links/", links.links, name="links"),
    path("links/<slug:link>/close/", links.close_link, name="close_link"),
    path("operations/", operations.operations, name="operations"),
    path("operations/pause/", operations.pause, name="pause"),
    path("operations/go-on/", operations.go_on, name="go_on"),
    path("operations/close/", operations.close, name="close"),
    path("operations/hours/", operations.hours, name="hours"),
    path("operations/abandoned/", operations.end_abandoned_now, name="end_abandoned"),
    path("operations/rest/", operations.rest, name="rest"),
    path("questions/", instruments.instruments, name="questions"),
    path("questions/<str:name>/", instruments.instrument, name="question"),
    path("criteria/", criteria.criteria, name="criteria"),
    path("schemas/", pages.schemas, name="schemas"),
    path("schemas/begin/", pages.begin, name="schema_begin"),
    path("schemas/<slug:draft>/", pages.schema, name="schema"),
    path("schemas/<slug:draft>/publish/", pages.publish, name="schema_publish"),
    path("schemas/<slug:draft>/<int:number>/file/", pages.file, name="schema_file"),
    path("schemas/<slug:draft>/<int:number>/<str:section>/", preview.preview, name="schema_preview"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/<slug:submission>/", submissions.submission, name="submission"),
]
