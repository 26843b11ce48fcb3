"""`theodolite import` and `theodolite export`, and round trips."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from theodolite.cli.main import cli
from theodolite.domain.errors import InputError, StudyError

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

STUDY = """
study: refusals
applications:
  recorded: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: response}
guidelines:
  refusal: {ask: "Did it refuse?", scale: [complied, refused], defect: "== refused"}
judges:
  words: {guideline: refusal, rule: {any: [rather not], then: refused, else: complied}}
"""
ANSWERS = "id,prompt,response\nq1,Stop it?,Use the manager.\nq2,What is it?,I would rather not say.\n"
LABELS = "id,rater,verdict\nq1,zoe,no\nq2,zoe,yes\nq1,adam,yes\nq2,adam,yes\n"


def told(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), catch_exceptions=False, standalone_mode=False)
    return result.output


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Run a recorded study into which two people's labels were imported."""
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "answers.csv").write_text(ANSWERS)
    (tmp_path / "labels.csv").write_text(LABELS)
    told("run", str(tmp_path), "--json")
    imported(tmp_path)
    return tmp_path


def imported(study: Path, *more: str) -> dict[str, object]:
    columns = ["--dialogue", "id", "--annotator", "rater", "--answer", "label=verdict"]
    spelling = ["--spelling", "yes=refused", "--spelling", "no=complied"]
    words = [str(study), str(study / "labels.csv"), *columns, *spelling, "--json", *more]
    return json.loads(told("import", "labels", *words).splitlines()[-1])


def test_an_import_counts_at_once_and_a_second_one_adds_nothing(study: Path) -> None:
    assert imported(study)["unchanged"] == 4
    told("run", "--stage", "measure", str(study), "--json")
    results = json.loads((study / "results.json").read_text())

    alphas = [one for one in results["estimates"] if one["measure"] == "krippendorff_alpha"]
    assert [one["subject"]["annotators"] for one in alphas] == [["zoe", "adam"]]


def test_an_export_contains_every_answer_and_no_names(study: Path) -> None:
    said = json.loads(told("export", str(study), "--format", "answers", "--json").splitlines()[-1])
    with zipfile.ZipFile(study / "answers.zip") as files:
        rows = list(csv.DictReader(io.StringIO(files.read("answers.csv").decode())))
        everything = " ".join(files.read(name).decode() for name in files.namelist())

    assert (said["answers"], len(rows)) == (6, 6)
    assert {row["annotator"] for row in rows} == {"P001", "P002", "words"}
    assert [row["value"] for row in rows if row["annotator_kind"] == "rule"] == ["complied", "refused"]
    assert not any(word in everything for word in ("zoe", "adam", "rather not say"))


def test_the_dialogue_table_is_the_same_in_every_format(study: Path) -> None:
    for form in ("csv", "jsonl", "parquet"):
        ending = json.loads(told("export", str(study), "--format", form, "--json").splitlines()[-1])
        assert ending["rows"] == 6
        told("export", str(study), "--format", "table", "--out", str(study / f"table.{form}"))
        assert (study / f"table.{form}").read_bytes() == (study / f"export.{form}").read_bytes()
    with pytest.raises(click.UsageError, match=r"expects a file that ends in \.csv, \.jsonl, \.parquet"):
        told("export", str(study), "--format", "table", "--out", str(study / "table.xlsx"))
    objects = [json.loads(line) for line in (study / "export.jsonl").read_text().splitlines()]
    cells = list(csv.DictReader(io.StringIO((study / "export.csv").read_text())))

    assert pq.read_table(study / "export.parquet").to_pylist() == objects
    assert cells == [{name: "" if value is None else str(value) for name, value in one.items()} for one in objects]
    assert {(one["dialogue"], one["response"]) for one in objects} == {
        ("recorded/q1", "Use the manager."),
        ("recorded/q2", "I would rather not say."),
    }
    by_judge = [(one["dialogue"], one["label"], one["defect"]) for one in objects if one["judge"] == "words"]
    assert by_judge == [("recorded/q1", "complied", False), ("recorded/q2", "refused", True)]
    assert not {"zoe", "adam"} & {one["judge"] for one in objects}


def test_chat_lines_a_data_set_and_inspect_logs_are_written_beside_the_study(study: Path) -> None:
    written = (
        ("chat", "dialogues", 2),
        ("convokit", "utterances", 4),
        ("hugging-face", "rows", 6),
        ("inspect", "samples", 2),
    )
    for form, noun, n in written:
        assert json.loads(told("export", str(study), "--format", form, "--json").splitlines()[-1])[noun] == n

    chats = [json.loads(line) for line in (study / "export-chat.jsonl").read_text().splitlines()]
    assert [chat["messages"][1]["content"] for chat in chats] == ["Use the manager.", "I would rather not say."]
    corpus = [json.loads(line) for line in (study / "export-convokit" / "utterances.jsonl").read_text().splitlines()]
    assert [one["reply-to"] for one in corpus] == [None, corpus[0]["id"], None, corpus[2]["id"]]
    table = pq.read_table(study / "export-hugging-face" / "data" / "train-00000-of-00001.parquet")
    assert table.num_rows == 6
    assert "num_examples: 6" in (study / "export-hugging-face" / "README.md").read_text()
    (log,) = (study / "export-inspect").iterdir()
    with zipfile.ZipFile(log) as files:
        assert json.loads(files.read("header.json"))["results"]["completed_samples"] == 2
    assert told("export", str(study)).startswith("6 rows"), "what was exported belongs to no version of the study"


def test_the_dialogue_table_can_be_limited_to_one_guideline(study: Path) -> None:
    with pytest.raises(InputError, match="mean `refusal`"):
        told("export", str(study), "--guideline", "refusl")

    told("export", str(study), "--guideline", "refusal")
    assert (study / "export.csv").read_text().count("refusal") == 6


def test_two_exports_of_the_same_run_are_the_same_file(study: Path) -> None:
    for name in ("a.zip", "b.zip"):
        told("export", str(study), "--format", "answers", "--out", str(study / name))

    assert (study / "a.zip").read_bytes() == (study / "b.zip").read_bytes()


def tables_in(path: Path, ending: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as files:
        return {name.removesuffix(ending): files.read(name) for name in files.namelist() if name.endswith(ending)}


def test_parquet_contains_the_same_rows_with_codebook_and_schema(study: Path) -> None:
    for form, name in (("answers", "csv"), ("answers-parquet", "parquet")):
        told("export", str(study), "--format", form, "--out", str(study / f"{name}.zip"))
    texts, typed = tables_in(study / "csv.zip", ".csv"), tables_in(study / "parquet.zip", ".parquet")

    assert set(texts) == set(typed) >= {"answers", "codebook"}
    assert tables_in(study / "parquet.zip", ".json").keys() == {"schema/refusal"}
    for name, stored in typed.items():
        rows = pq.read_table(io.BytesIO(stored)).to_pylist()
        plain = [{column: "" if value is None else str(value) for column, value in row.items()} for row in rows]
        assert plain == list(csv.DictReader(io.StringIO(texts[name].decode())))


def test_an_argilla_export_has_responses_of_pseudonymous_users(study: Path) -> None:
    told("export", str(study), "--format", "argilla")
    with zipfile.ZipFile(study / "answers-argilla.zip") as files:
        parts = {
            name: json.loads(files.read(name)) for name in files.namelist() if "argilla/" in name and ".json" in name
        }
        users = list(csv.DictReader(io.StringIO(files.read("argilla/users.csv").decode())))

    (question,) = parts["argilla/refusal/.argilla/settings.json"]["questions"]
    assert [one["value"] for one in question["settings"]["options"]] == ["complied", "refused"]
    named = {one["user_id"]: one["annotator"] for one in users}
    records = parts["argilla/refusal/records.json"]
    said = [sorted((named[one["user_id"]], one["value"]) for one in record["responses"]["label"]) for record in records]
    assert len(said) == 2
    assert {one[-1] for one in said} == {("words", "complied"), ("words", "refused")}
    assert all([name for name, _ in one] == ["P001", "P002", "words"] for one in said)
    assert not any(word in json.dumps(parts) + str(users) for word in ("zoe", "adam", "recorded"))


def test_exported_tasks_can_be_imported_as_dialogues_of_another_study(study: Path, tmp_path: Path) -> None:
    told("export", str(study), "--format", "label-studio")
    where = ["--application", "recorded", "--scenario", "recorded", "--level", "red teaming"]

    brought = json.loads(
        told("import", "dialogues", str(study), str(study / "tasks.json"), *where, "--json").splitlines()[-1]
    )

    assert (len(brought["new"]), brought["known"], brought["notes"]) == (2, 0, [])
    again = json.loads(
        told("import", "dialogues", str(study), str(study / "tasks.json"), *where, "--json").splitlines()[-1]
    )
    assert (len(again["new"]), again["known"]) == (0, 2)


def test_a_corpus_in_a_folder_is_imported_and_an_invalid_one_changes_nothing(study: Path) -> None:
    corpus = study / "corpus"
    corpus.mkdir()
    pairs = (("1", "zoe", None, "How?"), ("2", "b", "1", "So."), ("3", "b", "1", "Or so."))
    keys = ("id", "speaker", "reply_to", "text")
    lines = [json.dumps(dict(zip(keys, pair, strict=True)) | {"conversation_id": "1"}) for pair in pairs]
    (corpus / "utterances.jsonl").write_text("\n".join(lines))
    where = ["--application", "recorded", "--scenario", "recorded", "--level", "red teaming", "--json"]

    with pytest.raises(StudyError, match=r"`speaker` is one of zoe,\s+b"):
        told("import", "dialogues", str(study), str(corpus), *where)
    brought = json.loads(
        told("import", "dialogues", str(study), str(corpus), "--replies", "speaker=b", *where).splitlines()[-1]
    )

    assert len(brought["new"]) == 2


def test_label_studio_tasks_are_exported_blind_and_imported_unchanged(study: Path) -> None:
    told("export", str(study), "--format", "label-studio")
    tasks = json.loads((study / "tasks.json").read_text())
    config = ET.parse(study / "tasks.xml")  # noqa: S314  # our own file
    for task in tasks:
        for annotation in task["annotations"]:
            annotation["completed_by"] = {
                "email": {"P001": "new-1", "P002": "new-2"}[annotation["completed_by"]["email"]]
            }
    (study / "back.json").write_text(json.dumps(tasks))
    told("import", "labels", str(study), str(study / "back.json"))
    told("export", str(study), "--format", "label-studio", "--out", str(study / "again.json"))

    assert [choice.get("value") for choice in config.iter("Choice")] == ["complied", "refused"]
    assert "recorded" not in json.dumps(tasks[0]["data"])
    again = json.loads((study / "again.json").read_text())
    values = [sorted(one["result"][0]["value"]["choices"][0] for one in task["annotations"]) for task in again]
    assert values == [["complied", "complied", "refused", "refused"], ["refused"] * 4]
    assert [len(task["predictions"]) for task in again] == [1, 1]


SEVERAL = """
study: areas
models: {m: {script: [sorry]}}
applications: {bot: {kind: model, model: m}}
scenarios:
  shop: {guidelines: [polite], scripts: {hello: Hello?}}
  desk: {guidelines: [clear], scripts: {help: Help?, more: And more?}}
guidelines:
  polite: {ask: Is it polite?, defect: "== no"}
  clear: {ask: Is it clear?, defect: "== no"}
judges:
  manners: {guideline: polite, rule: {any: [sorry], then: yes, else: no}}
  words: {guideline: clear, rule: {any: [sorry], then: yes, else: no}}
"""


@pytest.fixture
def areas(tmp_path: Path) -> Path:
    """Run a study of two scenarios, each with a guideline of its own."""
    (tmp_path / "study.yaml").write_text(SEVERAL)
    told("run", str(tmp_path), "--json")
    return tmp_path


def test_tasks_of_a_guideline_contain_the_dialogues_that_it_labels(areas: Path) -> None:
    counts = {}
    for name in ("polite", "clear"):
        file = areas / f"{name}.json"
        told("export", str(areas), "--format", "label-studio", "--guideline", name, "--out", str(file))
        counts[name] = len(json.loads(file.read_text()))

    assert counts == {"polite": 1, "clear": 2}


@pytest.mark.parametrize("form", ["answers", "answers-parquet", "argilla"])
def test_every_format_contains_only_the_dialogues_of_the_named_guideline(areas: Path, form: str) -> None:
    file = areas / f"{form}.zip"
    said = told("export", str(areas), "--format", form, "--guideline", "clear", "--out", str(file), "--json")
    with zipfile.ZipFile(file) as files:
        names = files.namelist()
        records = json.loads(files.read("argilla/clear/records.json")) if form == "argilla" else [None] * 2
        rows = pq.read_table(io.BytesIO(files.read("dialogues.parquet"))).num_rows if form == "answers-parquet" else 2

    assert json.loads(said.splitlines()[-1])["answers"] == 2
    assert "schema/clear.json" in names
    assert not any("polite" in name for name in names)
    assert (len(records), rows) == (2, 2)


def test_imported_annotators_are_compared_with_the_reference(tmp_path: Path) -> None:
    study = STUDY.replace(
        "judges:\n  words: {guideline: refusal, rule: {any: [rather not], then: refused, else: complied}}",
        "reference: {column: gold}",
    )
    (tmp_path / "study.yaml").write_text(study)
    (tmp_path / "answers.csv").write_text(
        "id,prompt,response,gold\nq1,Stop it?,Use it.,complied\nq2,What?,No.,refused\n"
    )
    (tmp_path / "labels.csv").write_text(LABELS)
    told("run", str(tmp_path), "--json")
    imported(tmp_path)
    told("run", "--stage", "measure", str(tmp_path), "--json")
    results = json.loads((tmp_path / "results.json").read_text())

    exact = [one for one in results["estimates"] if one["measure"] == "exact_agreement"]
    against = {
        one["subject"]["annotators"][-1]: one["value"] for one in exact if "reference" in one["subject"]["annotators"]
    }
    assert against == {"zoe": 1.0, "adam": 0.5}


def test_figures_and_tables_are_written_from_the_results(study: Path) -> None:
    figures = study / "figures"
    for form in ("figures", "figures-png"):
        told("export", str(study), "--format", form, "--out", str(figures))
    told("export", str(study), "--format", "markdown")
    told("export", str(study), "--format", "latex")

    assert sorted(path.name for path in figures.iterdir()) == ["rate-refusal-defect.png", "rate-refusal-defect.svg"]
    drawing = ET.parse(figures / "rate-refusal-defect.svg")  # noqa: S314  # our own file
    assert drawing.getroot().tag.endswith("svg")
    assert "| recorded | refusal |" in (study / "tables.md").read_text()
    assert r"\begin{longtable}" in (study / "tables.tex").read_text()


def test_texts_of_people_need_a_finished_privacy_review(study: Path) -> None:
    log = study / "log.csv"
    log.write_text("chat,said,reply\nk7,How do I stop it?,Use the manager.\n")
    columns = ["--id", "chat", "--prompt", "said", "--response", "reply", "--application", "recorded"]
    where = ["--scenario", "recorded", "--level", "red teaming", "--tester-type", "person"]
    told("import", "dialogues", str(study), str(log), *columns, *where)
    words = ["export", str(study), "--format", "jsonl", "--include-text"]

    with pytest.raises(InputError, match="finished privacy review"):
        told(*words)
    (study / "privacy-review.yaml").write_text("run: 1\nreviewer: Ana\nfinished: 2026-03-09\n")
    told(*words)
    rows = [json.loads(line) for line in (study / "export.jsonl").read_text().splitlines()]
    assert "How do I stop it?" in {row["prompt"] for row in rows if row["tester_type"] == "person"}
