"""The page that creates a study from a template, for `theodolite view` and for hosts of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.forms import CharField, ChoiceField, FileField, Form, RadioSelect
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.bootstrap.webhook_sender import require_receiver
from theodolite.config.editable_files import LARGEST
from theodolite.config.load_context import EXAMPLES
from theodolite.config.starters import StarterKind
from theodolite.config.study import pack_names
from theodolite.domain.errors import InputError
from theodolite.ports.application import HostResolver

_KINDS = (
    (StarterKind.APPLICATION.value, "An application that can be called"),
    (StarterKind.RECORDED.value, "Recorded dialogues in a file"),
    (StarterKind.EVENT.value, "An event with testers, on a scenario pack"),
    (StarterKind.EXAMPLE.value, "A complete example"),
    (StarterKind.EMPTY.value, "An empty study"),
)

_RECORDED = (".csv", ".tsv", ".jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCreation:
    """The surroundings in which a study is created.

    Attributes:
        template: Template that the page extends.
        root: Folder of the new folder.
        create: Writes the files of a name, a kind and its answers, and returns the address of the editor.
        is_server: Whether the page belongs to a server: files are uploaded, and code and its paths are refused.
        allows_private: Whether a server calls addresses that are not public.
        resolver: Resolves the hosts of addresses that must be public.
    """

    template: str
    root: str
    create: Callable[[str, StarterKind, Mapping[str, str]], str]
    is_server: bool = False
    allows_private: bool = True
    resolver: HostResolver | None = None


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

    def __init__(self, *args: Any, creation: StudyCreation, **rest: Any) -> None:
        """List the packs; on a server, take a file in place of a path."""
        super().__init__(*args, **rest)
        self._creation = creation
        self.fields["pack"].choices = [(name, name) for name in pack_names()]  # type: ignore[attr-defined] # a field of choices
        if creation.is_server:
            limit = f"CSV, TSV or JSONL, at most {LARGEST // 1_000_000} MB."
            self.fields["source"] = FileField(
                label=self.fields["source"].label, required=False, help_text=limit, allow_empty_file=True
            )
            self.fields["app"].help_text = "A URL. The operator of the server adds code."
            self.fields["model_url"].help_text += " Store its key later, under API keys."

    def clean(self) -> dict[str, Any]:
        """Refuse code, private addresses and unsuitable files on a server."""
        sent = super().clean() or {}
        if self._creation.is_server:
            kind = sent.get("kind")
            if kind == StarterKind.APPLICATION:
                self._check_address("app", "the application")
            if kind in {StarterKind.APPLICATION, StarterKind.RECORDED}:
                self._check_address("model_url", "the judge's model")
            if kind == StarterKind.RECORDED and (problem := _file_problem(sent.get("source"))):
                self.add_error("source", problem)
        return sent

    def _check_address(self, field: str, what: str) -> None:
        address = str(self.cleaned_data.get(field, "")).strip()
        try:
            if address:
                require_receiver(
                    address,
                    public_only=not self._creation.allows_private,
                    what=what,
                    resolver=self._creation.resolver,
                )
        except InputError as error:
            text = str(error)
            self.add_error(field, f"{text[0].upper()}{text[1:]}.")

    @contextmanager
    def answers(self) -> Iterator[dict[str, str]]:
        """Give the answers for the kind, in the form that `write_starter` takes; an uploaded file exists inside."""
        sent = {
            name: "" if isinstance(value, UploadedFile) else str(value or "").strip()
            for name, value in self.cleaned_data.items()
        }
        models = {name: sent[name] for name in ("model_url", "model_name")}
        with TemporaryDirectory() as folder:
            source = _stored(self.cleaned_data["source"], Path(folder)) or sent["source"]
            wanted = {
                StarterKind.APPLICATION: {"app": sent["app"], "guideline": sent["guideline"], **models},
                StarterKind.RECORDED: {"from": source, "judge": sent["guideline"], **models},
                StarterKind.EVENT: {"pack": sent["pack"]},
                StarterKind.EXAMPLE: {"example": sent["example"]},
                StarterKind.EMPTY: {},
            }
            yield {name: value for name, value in wanted[StarterKind(sent["kind"])].items() if value}


def _file_problem(file: object) -> str:
    """Return why an uploaded file is no file of dialogues; empty if it can be one."""
    if not isinstance(file, UploadedFile):
        return "Choose a file with dialogues."
    if PurePosixPath(str(file.name)).suffix.lower() not in _RECORDED:
        return f"Choose a file that ends in {', '.join(_RECORDED)}; got {file.name}."
    if (file.size or 0) > LARGEST:
        return f"{file.name} is larger than {LARGEST // 1_000_000} MB. Ask the operator to copy it to the server."
    return ""


def _stored(file: object, folder: Path) -> str:
    """Store an uploaded file under a plain name, and return its path; empty without a file."""
    if not isinstance(file, UploadedFile):
        return ""
    name = PurePosixPath(str(file.name))
    stem = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in name.stem)
    path = folder / f"{stem.strip('-')[:60] or 'dialogues'}{name.suffix.lower()}"
    path.write_bytes(file.read())
    return str(path)


def new_study(request: HttpRequest, creation: StudyCreation) -> HttpResponse:
    """Show the form of a new study, or create the study and open its editor."""
    is_sent = request.method == "POST"
    form = NewStudyForm(
        request.POST if is_sent else None,
        request.FILES if is_sent else None,
        creation=creation,
        initial={"kind": StarterKind.APPLICATION.value},
    )
    if is_sent and form.is_valid():
        try:
            with form.answers() as answers:
                kind = StarterKind(form.cleaned_data["kind"])
                return redirect(creation.create(form.cleaned_data["name"], kind, answers))
        except InputError as error:
            form.add_error(None, str(error))
    context = {"form": form, "root": creation.root, "template": creation.template}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "web/editing/new_study.html", context, status=status)
