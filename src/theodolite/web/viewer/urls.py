"""Every address of `theodolite view`. No page of `theodolite serve` is among them."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from theodolite.web import middleware
from theodolite.web.viewer import dialogues, judges, matrix, results, studies

urlpatterns: list[URLPattern | URLResolver] = [
    path("enter/<slug:token>/", studies.enter, name="enter"),
    path("", studies.home, name="home"),
    path("new/", studies.new_study, name="new_study"),
    path("study/<slug:study>/edit/", studies.edit_study, name="edit_study"),
    path("study/<slug:study>/", studies.study, name="study"),
    path("study/<slug:study>/live/", studies.live, name="live"),
    path("study/<slug:study>/new/", studies.new_run, name="new_run"),
    path("study/<slug:study>/endpoints/", studies.check_endpoints, name="check_endpoints"),
    path("study/<slug:study>/allow/", studies.allow, name="allow"),
    path("study/<slug:study>/stop/", studies.stop, name="stop"),
    path("study/<slug:study>/runs/<int:run>/", results.results, name="results"),
    path("study/<slug:study>/runs/<int:run>/report/", results.report, name="report"),
    path("study/<slug:study>/runs/<int:run>/results.json", results.results_file, name="results_file"),
    path("study/<slug:study>/runs/<int:run>/dialogues/", dialogues.dialogues, name="dialogues"),
    path("study/<slug:study>/runs/<int:run>/matrix/", matrix.matrix, name="matrix"),
    path("study/<slug:study>/runs/<int:run>/judges/", judges.judges, name="judges"),
    path("study/<slug:study>/runs/<int:run>/trees/", results.trees, name="trees"),
    path("study/<slug:study>/runs/<int:run>/judge-again/<path:label>/", dialogues.judge_again, name="judge_again"),
    path("study/<slug:study>/runs/<int:run>/dialogues/<path:label>/", dialogues.dialogue, name="dialogue"),
    path("study/<slug:study>/compare/", results.comparison, name="comparison"),
    path("study/<slug:study>/compare/page/", results.comparison_page, name="comparison_page"),
    path("study/<slug:study>/monitor/", results.monitoring, name="monitoring"),
    path("study/<slug:study>/monitor/page/", results.monitor_page, name="monitor_page"),
    path("static/<slug:version>/<path:path>", middleware.static_file, name="static"),
]
