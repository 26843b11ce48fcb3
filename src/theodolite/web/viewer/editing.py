"""Pages of `theodolite view` that create a study and edit its files."""

from __future__ import annotations

from typing import Any

from django.forms import CharField, ChoiceField, Form, RadioSelect
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from theodolite.bootstrap.viewing import LocalStudy
from theodolite.config.load_context import EXAMPLES
from theodolite.config.starters import StarterKind
from theodolite.config.study import pack_names
from theodolite.domain.errors import InputError
from theodolite.web.study_editor import edit
from theodolite.web.study_trials import EditedStudy, TrialSetting
from theodolite.web.viewer.studies import local_only, of_study, page_context, studies

_KINDS = (
    (StarterKind.APPLICATION.value, "An application that can be called"),
    (StarterKind.RECORDED.value, "Recorded dialogues in a file"),
    (StarterKind.EVENT.value, "An event with testers, on a scenario pack"),
    (StarterKind.EXAMPLE.value, "A complete example"),
    (StarterKind.EMPTY.value, "An empty study"),
)


class NewStudyForm(Form):
    """Options for a new study, as in `theodolite init`."""

    name = CharField(label="Name", max_length=64, help_text="Letters, digits and hyphens; also the name of its folder.")
    kind = ChoiceField(label="What do you want to measure?", choices=_KINDS, widget=RadioSelect)
    app = CharField(
        label="Address of the application",
        required=False,
        help_text="A URL, module:function, file.py:function or module:Class.",
    )
    source = CharField(label="File with recorded dialogues", required=False, help_text="CSV, TSV or JSONL.")
    guideline = CharField(
        label="What would be wrong in a reply",
        required=False,
        help_text="A guideline, e.g. groundedness, or a sentence; needs a model. Empty for expected answers or labels.",
    )
    model_url = CharField(label="Address of the judge's model", required=False, help_text="Up to and including /v1.")
    model_name = CharField(label="Name of the judge's model", required=False)
    pack = ChoiceField(label="Scenario pack", required=False)
    example = ChoiceField(label="Example", required=False, choices=[(name, name) for name in EXAMPLES])

    def __init__(self, *args: Any, **rest: Any) -> None:
        """List the packs."""
        super().__init__(*args, **rest)
        self.fields["pack"].choices = [(name, name) for name in pack_names()]  # type: ignore[attr-defined] # a field of choices

    def answers(self) -> dict[str, str]:
        """Return the answers for the kind, in the form that `write_starter` takes."""
        sent = {name: str(value).strip() for name, value in self.cleaned_data.items()}
        models = {name: sent[name] for name in ("model_url", "model_name")}
        wanted = {
            StarterKind.APPLICATION: {"app": sent["app"], "guideline": sent["guideline"], **models},
            StarterKind.RECORDED: {"from": sent["source"], "judge": sent["guideline"], **models},
            StarterKind.EVENT: {"pack": sent["pack"]},
            StarterKind.EXAMPLE: {"example": sent["example"]},
            StarterKind.EMPTY: {},
        }
        return {name: value for name, value in wanted[StarterKind(sent["kind"])].items() if value}


@local_only
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Create a study from a template, and open its editor."""
    form = NewStudyForm(request.POST or None, initial={"kind": StarterKind.APPLICATION.value})
    if request.method == "POST" and form.is_valid():
        try:
            made = studies().create(form.cleaned_data["name"], StarterKind(form.cleaned_data["kind"]), form.answers())
            return redirect("edit_study", study=made.key)
        except InputError as error:
            form.add_error(None, str(error))
    context = {"form": form, "root": studies().root}
    return render(request, "web/viewer/new_study.html", context, status=422 if form.errors else 200)


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
        trials=TrialSetting(
            environ=lambda _: studies().environ,
            public_only=False,
            stored=lambda: studies().stored_dialogues(study),
            spent=lambda: studies().spent(study),
        ),
        environ=studies().environ,
    )
    return edit(request, edited)
