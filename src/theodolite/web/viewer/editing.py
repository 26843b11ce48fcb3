"""Pages of `theodolite view` that create a study and edit its files."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from theodolite.bootstrap.viewing import LocalStudy
from theodolite.config.starters import StarterKind
from theodolite.web.new_study import StudyCreation
from theodolite.web.new_study import new_study as new_study_page
from theodolite.web.study_editor import edit
from theodolite.web.study_trials import EditedStudy, TrialSetting
from theodolite.web.viewer.studies import local_only, of_study, page_context, studies


@local_only
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Create a study from a template, and open its editor."""

    def create(name: str, kind: StarterKind, answers: Mapping[str, str]) -> str:
        return reverse("edit_study", kwargs={"study": studies().create(name, kind, answers).key})

    creation = StudyCreation(template="web/viewer/base.html", root=str(studies().root), create=create)
    return new_study_page(request, creation)


@of_study
@require_http_methods(["GET", "POST"])
def edit_study(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Edit the files of a study; saving writes the file itself."""
    edited = EditedStudy(
        title=study.name,
        files=studies().files(study),
        template="web/viewer/base.html",
        address=reverse("edit_study", kwargs={"study": study.key}),
        context=page_context(study, "edit"),
        running=reverse("new_run", kwargs={"study": study.key}),
        trials=TrialSetting(
            environ=lambda _: studies().environ,
            public_only=False,
            stored=lambda: studies().stored_dialogues(study),
            spent=lambda: studies().spent(study),
        ),
        environ=studies().environ,
    )
    return edit(request, edited)
