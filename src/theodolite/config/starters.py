"""Creates the files of a new study, and splits a study file into parts."""

from __future__ import annotations

import csv
import io
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from string import Template

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from theodolite.config.connections import url_problem
from theodolite.config.load_context import ResourceResolver, example_files, shipped_text
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import USUAL
from theodolite.config.study import pack_guidelines, pack_names
from theodolite.config.tables import Guess, column_meaning, guess_columns, read_table, unreadable
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.identity import version_of
from theodolite.domain.persona import PersonaGroup
from theodolite.domain.study import Study


class StarterKind(StrEnum):
    """Choices for a new study."""

    APPLICATION = "application"
    RECORDED = "recorded"
    EVENT = "event"
    EMPTY = "empty"
    EXAMPLE = "example"


_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*[A-Za-z0-9]|[A-Za-z0-9]")

_WORDS = {"yes", "no", "true", "false", "null", "on", "off"}


_FOLDER_NAME = re.compile(r"(?!(con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9][a-z0-9_-]{0,63}", re.IGNORECASE | re.ASCII)
"""Names of folders, without those that Windows reserves."""


def create_study(root: Path, name: str, kind: StarterKind, answers: Mapping[str, str]) -> Path:
    """Write the first files of a study to a new folder below `root`, as `write_starter` does; return the folder.

    Raises:
        InputError: If the name is not a valid name of a new folder, or an answer is invalid.
    """
    if not _FOLDER_NAME.fullmatch(name):
        _refuse(f"`{name}` is not a valid name of a folder; use letters, digits, `-` and `_`")
    folder = root / name
    if folder.exists() or folder.is_symlink():
        _refuse(f"there is a folder or file `{name}` already; choose another name")
    write_starter(folder, kind, answers)
    return folder


def write_starter(folder: Path, kind: StarterKind, answers: Mapping[str, str]) -> tuple[Path, ...]:
    """Write the first files of a study and return them, the study file first.

    Args:
        folder: The folder; created if missing. An existing study is not overwritten.
        kind: The kind of measurement.
        answers: `app` (URL, `module:function`, `file.py:function` or `module:Class`), `app_model` (name of
            the model behind the URL), `cases` (a file), `users` (for simulated users), `with_cases` (for example
            cases besides simulated users) and `guideline` (a name or a sentence) for an application; `from` (a file)
            for recorded dialogues, with `judge` (a guideline or a sentence) if a model labels them, and with
            `column MEANING` (a column; `-` for none) for each corrected column; `model_url`, `model_name` and
            `model_key` for the model of judge and simulated user; `pack` for an event; `example` (its name) for an
            example.

    Raises:
        InputError: If an answer is invalid, or a study exists already.
    """
    files = _files(folder, kind, answers)
    there = [name for name in files if (folder / name).exists()]
    if there:
        message = f"`{folder / there[0]}` is there already and is left as it is; name another folder"
        raise InputError(message)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        path = answers.get("from" if kind is StarterKind.RECORDED else "cases", "")
        copied = _copied(folder, path) if path and kind is not StarterKind.EXAMPLE else ()
    except OSError as error:
        message = f"`{folder}` cannot be written to: {error.strerror}; name another folder"
        raise InputError(message) from error
    return (*(folder / name for name in files), *copied)


def _files(folder: Path, kind: StarterKind, answers: Mapping[str, str]) -> dict[str, str]:
    study = _study_name(folder)
    if kind is StarterKind.APPLICATION:
        return _application_files(study, answers)
    if kind is StarterKind.RECORDED:
        return {USUAL: recorded_study(study, answers.get("from", ""), answers)}
    if kind is StarterKind.EVENT:
        pack = answers.get("pack", "") or pack_names()[0]
        if pack not in pack_names():
            tail = did_you_mean(pack, pack_names()) or f"; known are {', '.join(pack_names())}"
            message = f"there is no scenario pack `{pack}`{tail}"
            raise InputError(message)
        return {
            USUAL: _filled("event", study=study, pack=pack),
            "consent.md": shipped_text("starters/consent.md"),
        }
    if kind is StarterKind.EXAMPLE:
        return example_files(answers.get("example", ""))
    return {USUAL: _filled("empty", study=study)}


CASES = "cases.csv"
"""Name of the file with example cases."""

EXAMPLE_FILES = ("customers.csv", "returns-policy.md", CASES)
"""Names of the example files next to the study of an application."""

COLUMN_MEANINGS = ("prompt", "response", "expected", "context", "id", "turn")
"""Roles of columns that an operator may correct."""


def _application_files(study: str, answers: Mapping[str, str]) -> dict[str, str]:
    """Return the study of an application, and the example files that it needs."""
    text = application_study(study, answers)
    examples: tuple[str, ...] = EXAMPLE_FILES[:2] if answers.get("users") else ()
    examples += () if answers.get("cases") or not _has_cases(answers) else (CASES,)
    return {USUAL: text, **{name: shipped_text(f"starters/{name}") for name in examples}}


def _has_cases(answers: Mapping[str, str]) -> bool:
    """Return whether test cases test an application."""
    return bool(answers.get("cases") or answers.get("with_cases") or not answers.get("users"))


def application_study(study: str, answers: Mapping[str, str]) -> str:
    """Return a study of a callable application.

    It is tested by test cases with expected answers, by simulated users if `answers` has `users`, or by both.

    Raises:
        InputError: If the application's address, the cases or the guideline is invalid, or a judge or
            simulated user has no model.
    """
    models, connection = _connection(answers)
    guideline = answers.get("guideline", "").strip()
    if answers.get("users"):
        guideline = guideline or "groundedness"
    if guideline or answers.get("users"):
        models.append(f"  local: {_model(answers)}")
    slots = {"study": study, "application": answers.get("name", "") or "my-app", "connection": connection}
    judge = _judge(guideline).replace("model: large", "model: local") if guideline else ""
    if not _has_cases(answers):
        return _filled("application", models="\n".join(models), cases="", judges=judge, only="", **slots)
    columns = _case_columns(answers.get("cases", ""), has_judge=bool(judge))
    judges = [*(['correct: {rule: {contains: "{{ expected }}"}}'] if "expected" in columns else []), judge]
    cases = _cases_text(answers.get("cases", ""), columns)
    more = {"judges": "\n  ".join(filter(None, judges)), **slots}
    if answers.get("users"):  # expected answers belong to the cases alone
        only = f", guidelines: [{judge.partition(':')[0]}]" if len(judges) > 1 else ""
        return _filled("application", models="\n".join(models), cases=f"cases: {cases}\n", only=only, **more)
    listed = "".join(f"{line}\n" for line in ["models:", *models]) if models else ""
    return _filled("cases", models=listed, cases=cases, **more)


def _connection(answers: Mapping[str, str]) -> tuple[list[str], str]:
    """Return the models that an application needs, and its connection, as lines of the study."""
    target = answers.get("app", "").strip()
    if target.startswith(("http://", "https://")):
        _refuse(url_problem(target))
        if target.rstrip("/").endswith("/v1"):
            name = answers.get("app_model", "") or "default"
            return [f"  app:   {{url: {_address(target)}, name: {_scalar(name)}}}"], "{kind: model, model: app}"
        return [], f'{{kind: http, url: {_scalar(target)}, body: {{prompt: "{{{{ prompt }}}}"}}, reply: $.text}}'
    if re.fullmatch(r"[\w./-]+\.py:\w+|[A-Za-z_][\w.]*:\w+", target):
        is_class = target.rpartition(":")[2][:1].isupper()
        return [], f'{{kind: {"aria, class" if is_class else "python, call"}: "{target}"}}'
    message = f"`{target}` is not an application; expected a URL, `module:function` or `module:Class`"
    raise InputError(message)


def _case_columns(file: str, *, has_judge: bool) -> dict[str, str]:
    """Return the column of each role for a file with test cases; of the example file if none is named.

    Raises:
        InputError: If the file cannot be read or has no prompts, or nothing labels the replies.
    """
    if not file:
        return {"prompt": "prompt", "expected": "expected"}
    path = Path(file)
    table = read_table(path, path.name)
    if not table.columns or table.faults:
        raise InputError(render_diagnostics(table.faults))
    named = {meaning: column_meaning(table.columns, meaning) for meaning in ("prompt", "expected", "id")}
    columns = {meaning: column for meaning, column in named.items() if column}
    if "expected" not in columns and (answer := guess_columns(table).columns.get("response")):
        columns["expected"] = answer
    listed = ", ".join(table.columns)
    if "prompt" not in columns:
        message = f"`{path.name}`: no column seems to hold the prompt; columns are {listed}. Rename one to `prompt`"
        raise InputError(message)
    if "expected" not in columns and not has_judge:
        message = (
            f"`{path.name}` has no column of expected answers; columns are {listed}. Rename one to `expected`, or let"
            " a judge label the replies:  --guideline relevance"
        )
        raise InputError(message)
    return columns


def _cases_text(file: str, columns: Mapping[str, str]) -> str:
    """Return the `cases` of a study file; only the name of the file if its columns have the usual names."""
    name = _scalar(Path(file).name) if file else CASES
    if all(meaning == column for meaning, column in columns.items()):
        return name
    return f"{{file: {name}, {', '.join(f'{meaning}: {_scalar(column)}' for meaning, column in columns.items())}}}"


def _model(answers: Mapping[str, str]) -> str:
    """Return the chosen model as an entry of `models`.

    Raises:
        InputError: If none was chosen.
    """
    url, name = answers.get("model_url", ""), answers.get("model_name", "")
    key = f", key: {_scalar(answers['model_key'])}" if answers.get("model_key") else ""
    if not url:
        message = "a judge or simulated user needs a model:  --model URL --model-name NAME"
        raise InputError(message)
    return f"{{url: {_scalar(url)}, name: {_scalar(name)}{key}}}"


def recorded_study(study: str, file: str, answers: Mapping[str, str] | None = None) -> str:
    """Return a study of a recorded file, with columns guessed from its header.

    A model labels the dialogues if `answers` has `judge`; otherwise the labels are columns of the file.

    Raises:
        InputError: If the file cannot be read, or no column seems to hold the prompts or the responses.
    """
    path = Path(file)
    table = read_table(path, path.name)
    if not table.columns or table.faults:
        raise InputError(render_diagnostics(table.faults))
    guess = _corrected(guess_columns(table), answers or {})
    missing = [meaning for meaning in ("prompt", "response") if meaning not in guess.columns]
    if missing:
        columns = ", ".join(table.columns)
        message = (
            f"`{path.name}`: no column seems to hold the {' and the '.join(missing)}; columns are {columns}."
            " Rename one, or write the study by hand"
        )
        raise InputError(message)
    if judge := (answers or {}).get("judge", ""):
        return _judged_text(study, path.name, guess, judge, _model(answers or {}))
    if len(guess.labels) < 2:
        message = (
            f"`{path.name}` has no column of labels, so a judge has to label it. Name a guideline and a model:\n"
            f"  theodolite init {study} --from {path.name} --judge relevance --model http://127.0.0.1:11434/v1\n"
            "Guidelines: groundedness, relevance, spoiler, over-refusal, or a sentence of your own"
        )
        raise InputError(message)
    return _recorded_text(study, path.name, guess)


def _corrected(guess: Guess, answers: Mapping[str, str]) -> Guess:
    """Return the detected columns, with the corrections of the operator."""
    named = {name.removeprefix("column "): column for name, column in answers.items() if name.startswith("column ")}
    columns = {**guess.columns, **named}
    return replace(guess, columns={meaning: column for meaning, column in columns.items() if column != "-"})


def _judged_text(study: str, file: str, guess: Guess, judge: str, model: str) -> str:
    columns = ", ".join(f"{meaning}: {_scalar(column)}" for meaning, column in guess.columns.items())
    return _filled(
        "judged",
        study=study,
        model=model,
        application="recorded",
        connection=f"{{kind: recorded, file: {_scalar(file)}, {columns}}}",
        judge=_judge(judge).replace("model: large", "model: judge"),
        groups=f"\ngroups: [{', '.join(_scalar(name) for name in guess.groups)}]" if guess.groups else "",
    )


def _recorded_text(study: str, file: str, guess: Guess) -> str:
    columns = ", ".join(f"{meaning}: {_scalar(column)}" for meaning, column in guess.columns.items())
    annotators = [
        f"  {_scalar(column)}: {{who: {kind}, guideline: label, column: {_scalar(column)}}}"
        for kind, column in guess.annotators
    ]
    return _filled(
        "recorded",
        study=study,
        application="recorded",
        connection=f"{{kind: recorded, file: {_scalar(file)}, {columns}}}",
        scale=f"[{', '.join(_scalar(label) for label in guess.labels)}]",
        defect=guess.defect,
        annotators="\n".join(annotators),
        reference=f"\nreference: {{column: {_scalar(guess.reference)}}}" if guess.reference else "",
        groups=f"\ngroups: [{', '.join(_scalar(name) for name in guess.groups)}]" if guess.groups else "",
    )


def _judge(answer: str) -> str:
    known = ResourceResolver().names("guidelines", ".yaml")
    if answer in known:
        return f"{answer.replace(' ', '-')}: {{guideline: {answer}, model: large}}"
    if " " in answer:
        question = "Is this true of a reply of the application: " + answer.rstrip(".?!") + "?"
        return f'own: {{ask: {_scalar(question)}, defect: "== yes", model: large}}'
    tail = did_you_mean(answer, known) or f"; known are {', '.join(known)}, or write a sentence of yours"
    message = f"there is no guideline `{answer}`{tail}"
    raise InputError(message)


def _refuse(problem: str) -> None:
    if problem:
        raise InputError(problem)


def _copied(folder: Path, file: str) -> tuple[Path, ...]:
    target = folder / Path(file).name
    if target.exists():
        return ()
    shutil.copyfile(file, target)
    return (target,)


def _study_name(folder: Path) -> str:
    return _scalar(folder.resolve().name or "study")


def _filled(template: str, **slots: str) -> str:
    return Template(shipped_text(f"starters/{template}.yaml")).substitute(slots)


def _address(url: str) -> str:
    """Return an address as YAML inside brackets, without quotes if no character of it needs them."""
    return _scalar(url) if set(url) & set(",[]{}\"'#") else url


def _scalar(text: str) -> str:
    """Return a text as YAML inside brackets: quoted unless it is plain."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


_MARGIN = re.compile(r"\n[ \t]*")

_COMMENT = re.compile(r"[ \t]*#")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A range of a text and its replacement.

    Attributes:
        start: Index of its first character, from 0.
        end: Its end; exclusive.
        replacement: The new text.
    """

    start: int
    end: int
    replacement: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A key and its value in a mapping of a YAML text.

    Attributes:
        text: The whole text.
        key: Node of the key.
        value: Node of the value.
        in_block: Whether its mapping is in block style, without braces.
    """

    text: str
    key: ScalarNode
    value: Node
    in_block: bool

    @property
    def name(self) -> str:
        """The key."""
        return str(self.key.value)

    def pairs(self) -> tuple[Pair, ...]:
        """Return the pairs of the value; empty if it is not a mapping."""
        return _pairs(self.text, self.value)

    def lines(self) -> Cut:
        """Return the lines of key and value, including the comments directly above the key."""
        start = _line_start(self.text, self.key.start_mark.index)
        while start and _COMMENT.match(self.text, _line_start(self.text, start - 1), start):
            start = _line_start(self.text, start - 1)
        return Cut(start=start, end=_line_end(self.text, _end_of(self.value, self.text)))

    def behind_colon(self, replacement: str) -> Cut:
        """Return a span that replaces the value."""
        colon = self.text.index(":", self.key.end_mark.index)
        return Cut(start=colon + 1, end=_end_of(self.value, self.text), replacement=f" {replacement}")

    def as_file(self) -> str:
        """Return the value, a mapping, as the text of a separate file, with its comments in front."""
        lines = self.lines()
        above = self.text[lines.start : _line_start(self.text, self.key.start_mark.index)] if self.in_block else ""
        flow = isinstance(self.value, MappingNode) and bool(self.value.flow_style)
        begin = self.value.end_mark.index if flow else self.text.index(":", self.key.end_mark.index) + 1
        rest = self.text[begin : _line_end(self.text, begin)]
        comment = rest.strip() + "\n" if self.in_block and _COMMENT.match(rest) else ""
        comments = "".join(line.lstrip() for line in [*above.splitlines(keepends=True), comment])
        if flow:
            return comments + "".join(_unfolded(pair) for pair in self.pairs())
        body = self.text[_line_end(self.text, begin) : lines.end]
        return comments + _dedented(body, self.value.start_mark.column)


def top_pairs(text: str) -> tuple[Pair, ...]:
    """Return the pairs of a YAML text's top-level mapping, with keys at the margin.

    Raises:
        InputError: If the text has anchors, so that no part is independent.
    """
    parser = YAML(typ="safe", pure=True)
    parser.version = (1, 2)
    try:
        anchored = [event for event in parser.parse(text) if getattr(event, "anchor", None)]
        node = parser.compose(text)
    except YAMLError:
        return ()  # the reader of the study reports its errors
    if anchored:
        line = anchored[0].start_mark.line + 1
        message = f"line {line} uses `&` or `*`; write out what the name stands for before the file is split"
        raise InputError(message)
    return _pairs(text, node) if isinstance(node, MappingNode) and not node.flow_style else ()


def without(text: str, cuts: list[Cut]) -> str:
    """Return a text with each span replaced; spans do not overlap."""
    for cut in sorted(cuts, key=lambda cut: cut.start, reverse=True):
        text = text[: cut.start] + cut.replacement + text[cut.end :]
    return text


def _pairs(text: str, node: Node) -> tuple[Pair, ...]:
    if not isinstance(node, MappingNode):
        return ()
    in_block = not node.flow_style
    return tuple(Pair(text=text, key=key, value=value, in_block=in_block) for key, value in node.value)


def _end_of(node: Node, text: str) -> int:
    """Return the end of a value, exclusive; trailing comments are not part of it."""
    last = node
    while isinstance(last, MappingNode | SequenceNode) and not last.flow_style and last.value:
        child = last.value[-1]
        last = child[1] if isinstance(child, tuple) else child
    end: int = last.end_mark.index
    is_block_text = isinstance(last, ScalarNode) and last.style in {"|", ">"}
    return len(text[:end].rstrip("\r\n")) if is_block_text else end


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """Return the start of the next line."""
    result = text.find("\n", index)
    return result + 1 if result >= 0 else len(text)


def _unfolded(pair: Pair) -> str:
    """Return a pair in braces as separate lines."""
    key = pair.text[pair.key.start_mark.index : pair.key.end_mark.index]
    value = pair.text[pair.value.start_mark.index : pair.value.end_mark.index]
    indented = _MARGIN.sub("\n  ", value)
    return f"{key}: {indented}".rstrip() + "\n"


def _dedented(body: str, n_columns: int) -> str:
    lines = body.split("\n")
    return "\n".join(line[min(n_columns, len(line) - len(line.lstrip(" "))) :] for line in lines)


_NAME = re.compile(r"[A-Za-z0-9][\w-]*(?:[ .][\w-]+)*")
"""Names that are valid as file names on every system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Result of splitting a study file.

    Attributes:
        files: The files of the folder, the study file first.
        kept: Reasons why entries stay in the study file; one sentence each.
        version: Content hash of the study, before and after.
    """

    files: tuple[Path, ...]
    kept: tuple[str, ...]
    version: str


@dataclass(slots=True)
class _Pieces:
    """Parts removed from the study file so far."""

    cuts: list[Cut] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)


def split_study(file: Path, folder: Path, *, resolver: ResourceResolver | None = None) -> Split:
    """Split a study file into a folder: guidelines, scenarios and persona rows in separate files.

    Args:
        file: The study file; the files that it names are copied.
        folder: The folder; created if missing. No file is overwritten.
        resolver: Finds resources that the study folder does not contain; default: the shipped ones.

    Raises:
        InvalidStudyError: If the study has errors.
        InputError: If it cannot be split, or a file exists already.
    """
    resolver = resolver or ResourceResolver()
    loaded = load_study(file, resolver=resolver)
    version = version_of(loaded.study)
    text = file.read_bytes().decode("utf-8-sig")
    pieces = _pieces(text, loaded, resolver)
    with tempfile.TemporaryDirectory() as made:
        _write(Path(made), without(text, pieces.cuts), pieces, loaded)
        _check_the_same(Path(made), version, resolver)
        names = _hand_over(Path(made), folder)
    return Split(files=tuple(folder / name for name in names), kept=tuple(pieces.kept), version=version)


def _pieces(text: str, loaded: LoadedStudy, resolver: ResourceResolver) -> _Pieces:
    pieces = _Pieces()
    sections = {pair.name: pair for pair in top_pairs(text)}
    if "guidelines" in sections:
        packs = loaded.study.pack.split(", ")
        of_pack = [name for pack in packs for name in pack_guidelines(pack, resolver)]
        movable = _movable_guidelines(sections["guidelines"], loaded.study, of_pack, pieces)
        _take_out(sections["guidelines"], movable, pieces)
    if "scenarios" in sections:
        _take_out(sections["scenarios"], _movable_scenarios(sections["scenarios"], loaded, pieces), pieces)
    if "personas" in sections:
        for group in sections["personas"].pairs():
            _take_out_rows(group, loaded, pieces)
    return pieces


def _movable_guidelines(section: Pair, study: Study, of_pack: Sequence[str], pieces: _Pieces) -> Iterator[str]:
    """Yield the guidelines that are still found by name in a separate file."""
    named = {annotator.guideline for annotator in study.annotators}
    named |= {study.reference.guideline} if study.reference else set()
    for pair in section.pairs():
        if pair.name not in named:
            pieces.kept.append(
                f"guideline `{pair.name}`: nobody who labels names it, so its file would not be looked for"
            )
        elif pair.name in of_pack:
            pieces.kept.append(f"guideline `{pair.name}`: it overrides the one of the pack")
        elif _is_file_name("guideline", pair.name, pieces):
            yield pair.name


def _movable_scenarios(section: Pair, loaded: LoadedStudy, pieces: _Pieces) -> Iterator[str]:
    """Yield the scenarios that keep their order: files are read in name order, before the study file."""
    there = [file for file in loaded.files if file.startswith("scenarios/")]
    last, stays = max(there, default=""), False
    for pair in section.pairs():
        file = f"scenarios/{pair.name}.yaml"
        if not _is_file_name("scenario", pair.name, pieces):
            stays = True
        elif file in there:
            yield pair.name
        elif stays or file < last:
            stays = True
            pieces.kept.append(f"scenario `{pair.name}`: in a file of its own it would change its place in the order")
        else:
            last = file
            yield pair.name


def _is_file_name(noun: str, name: str, pieces: _Pieces) -> bool:
    if _NAME.fullmatch(name):
        return True
    pieces.kept.append(f"{noun} `{name}`: its name is not a valid name of a file")
    return False


def _take_out(section: Pair, names: Iterable[str], pieces: _Pieces) -> None:
    """Remove entries from a section, or the whole section, and leave a comment with their new location."""
    movable = set(names)
    entries = [pair for pair in section.pairs() if pair.name in movable]
    whole = len(entries) == len(section.pairs())
    if not whole and any(not pair.in_block for pair in entries):
        pieces.kept += [f"`{section.name}`: written between braces, so that no part can be taken out alone"]
        return
    for pair in entries:
        pieces.files[_path(section, pair)] = pair.as_file()
        if not whole:
            lines = pair.lines()
            margin = " " * pair.key.start_mark.column
            text = f"{margin}# {pair.name}: {_path(section, pair)}\n"
            pieces.cuts.append(Cut(start=lines.start, end=lines.end, replacement=text))
    if whole and entries:
        text = f"# {section.name}: {', '.join(_path(section, pair) for pair in entries)}\n"
        start, end = section.key.start_mark.index, section.lines().end
        pieces.cuts.append(Cut(start=start, end=end, replacement=text))


def _path(section: Pair, pair: Pair) -> str:
    return f"{section.name}/{pair.name}.yaml"


def _take_out_rows(entry: Pair, loaded: LoadedStudy, pieces: _Pieces) -> None:
    rows = next((pair for pair in entry.pairs() if pair.name == "rows"), None)
    if rows is None or not isinstance(rows.value, SequenceNode):
        return
    group = next(group for group in loaded.study.personas if group.name == entry.name)
    name = f"{entry.name}.csv"
    if {name, f"parameters/{name}"} & set(loaded.files):
        pieces.kept.append(f"rows of `{entry.name}`: there is a file `{name}` already")
    elif _is_file_name("persona group", entry.name, pieces):
        table = _table(group)
        if _reads_the_same(table, group):
            pieces.files[f"parameters/{name}"] = table
            pieces.cuts.append(rows.behind_colon(name))
        else:
            pieces.kept.append(f"rows of `{entry.name}`: a table would not hold them as they are")


def _table(group: PersonaGroup) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(group.rows[0].values)
    writer.writerows([row.values[column] for column in group.rows[0].values] for row in group.rows)
    return out.getvalue()


def _reads_the_same(text: str, group: PersonaGroup) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(text.encode("utf-8"))
        table = read_table(path, path.name)
    rows: list[Mapping[str, str]] = [dict(row.values) for row in group.rows]
    return not table.faults and list(table.rows) == rows


def _write(made: Path, study: str, pieces: _Pieces, loaded: LoadedStudy) -> None:
    for name in loaded.files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            message = f"`{name}` lies outside the folder of the study; put it there and name it so, then split the file"
            raise InputError(message)
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(loaded.folder / name, made / name)
    for name, text in {**pieces.files, USUAL: study}.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(text.encode("utf-8"))


def _check_the_same(made: Path, version: str, resolver: ResourceResolver) -> None:
    """Reject a folder whose study differs from the original one."""
    try:
        same = version_of(load_study(made / USUAL, resolver=resolver).study) == version
    except InvalidStudyError:
        same = False
    if not same:
        message = "the file cannot be split without changing the study; put its parts into files by hand"
        raise InputError(message)


def _hand_over(made: Path, folder: Path) -> tuple[str, ...]:
    names = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    there = [name for name in names if (folder / name).exists()]
    if there:
        message = f"`{folder / there[0]}` is there already and is left as it is; name another folder"
        raise InputError(message)
    try:
        shutil.copytree(made, folder, dirs_exist_ok=True)
    except OSError as error:
        message = f"`{folder}` cannot be written to: {unreadable(error)}; name another folder"
        raise InputError(message) from error
    return (USUAL, *(name for name in names if name != USUAL))
