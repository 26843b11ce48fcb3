"""The report over a series shows the figures of each study, and gaps of the plan and the studies."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from tests.fakes.terminal import theodolite as command
from theodolite.bootstrap.study_context import open_study
from theodolite.config.load_context import shipped_text
from theodolite.domain.series_review import EntryKind, SeriesPart
from theodolite.usecases.series_review import add_entry

pytestmark = pytest.mark.integration

PLAN = """scenarios: [cinema, kitchen, museum]
user_types: [everyday]
teams: {one: [blue, red], two: [absent]}
"""
CODE = {
    "blue.py": "def reply(prompt):\n    return 'He dies.' if 'plot' in prompt else 'No.'\n",
    "red.py": "def reply(prompt):\n    if 'crash' in prompt:\n        raise ValueError('no')\n    return 'No.'\n",
}
STUDY = """study: NAME
series: spring
applications:
APPLICATIONS
scenarios:
  SCENARIO: {scripts: {a: the plot, b: [tell, crash], c: c, d: d, e: e, f: f, g: g, h: h, i: i, j: the plot of j, k: k}}
judges:
  spoils: {ask: "QUESTION", defect: "== yes", rule: {any: [dies], then: yes, else: no}}
tree: by-guideline
"""
BLUE, RED = '  blue: {kind: python, call: "blue.py:reply"}', '  red: {kind: python, call: "red.py:reply"}'
PURPLE = '  purple: {kind: python, call: "red.py:reply"}'


def written(name: str, scenario: str, *applications: str, question: str = "Is the end told?") -> str:
    text = STUDY.replace("NAME", name).replace("SCENARIO", scenario).replace("QUESTION", question)
    return text.replace("APPLICATIONS", "\n".join(applications))


def write_series(folder: Path) -> Path:
    """Write a series with three studies into a folder."""
    (folder / "series").mkdir()
    (folder / "series" / "spring.yaml").write_text(PLAN)
    for name, text in CODE.items():
        (folder / name).write_text(text)
    (folder / "cinema.yaml").write_text(written("cinema-study", "cinema", BLUE, RED))
    (folder / "kitchen.yaml").write_text(written("kitchen-study", "kitchen", BLUE, PURPLE, question="Is it told?"))
    (folder / "other.yaml").write_text(written("other", "cinema", RED).replace("series: spring\n", ""))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The series, before any run."""
    return write_series(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The series after one run of two of its studies; to be copied."""
    folder = write_series(tmp_path_factory.mktemp("finished"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DATABASE_URL", raising=False)
        for name in ("cinema", "kitchen"):
            assert command("run", folder / f"{name}.yaml").code == 0
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the series after its runs."""
    return shutil.copytree(finished, tmp_path, dirs_exist_ok=True)


def reported(folder: Path) -> tuple[dict[str, Any], str]:
    ended = command("report", folder / "series" / "spring.yaml")
    assert ended.code == 0, ended.err
    out = folder / "series-report-spring"
    return json.loads((out / "series.json").read_text()), (out / "series.html").read_text()


def published_form() -> jsonschema.Draft202012Validator:
    """Return the schema of `series.json`, which refers to that of `results.json` beside it."""
    own, results = (json.loads(shipped_text(f"schemas/{name}.schema.json")) for name in ("series-report", "results"))
    registry = Registry().with_resource("results.schema.json", Resource.from_contents(results))
    return jsonschema.Draft202012Validator(own, registry=registry)


def test_each_figure_equals_the_results_of_its_study(run: Path) -> None:
    document, _ = reported(run)

    for one in document["studies"]:
        assert command("report", run / one["file"], "--out", run / "own").code == 0
        own = json.loads((run / "own" / "results.json").read_text())
        assert {**one["results"], "generated": ""} == {**own, "generated": ""}
    rates = {(rate["study"], rate["application"]): rate for rate in document["rates"]}
    assert set(rates) == {
        ("cinema-study", "blue"),
        ("cinema-study", "red"),
        ("kitchen-study", "blue"),
        ("kitchen-study", "purple"),
    }
    for (study, application), rate in rates.items():
        results = next(one["results"] for one in document["studies"] if one["name"] == study)
        found = results["estimates"][rate["estimate"]]
        assert found["subject"]["application"] == application
        assert [rate[key] for key in ("value", "low", "high", "n")] == [
            found[key] for key in ("value", "low", "high", "n")
        ]


def test_the_document_matches_its_published_schema(run: Path) -> None:
    document, _ = reported(run)
    (run / "series" / "spring.yaml").write_text("studies: [kitchen.yaml]\n")
    smaller, _ = reported(run)

    form = published_form()
    assert [error.message for each in (document, smaller) for error in form.iter_errors(each)] == []
    assert document["rates"] and document["trees"] and document["series"]["deviations"]  # noqa: PT018 - not empty


@pytest.mark.parametrize("part", ["rates", "trees", "coverage", "studies"])
def test_an_unknown_schema_is_refused(run: Path, part: str) -> None:
    document, _ = reported(run)
    document[part][0]["extra"] = 1

    assert [*published_form().iter_errors(document)]


def test_trees_of_all_studies_are_shown_with_their_values(run: Path) -> None:
    document, _ = reported(run)

    (table,) = document["trees"]
    assert [(column["study"], column["application"]) for column in table["columns"]] == [
        ("cinema-study", "blue"),
        ("cinema-study", "red"),
        ("kitchen-study", "blue"),
        ("kitchen-study", "purple"),
    ]
    for column in table["columns"]:
        results = next(one["results"] for one in document["studies"] if one["name"] == column["study"])
        (tree,) = results["trees"]
        own = next(each for each in tree["applications"] if each["application"] == column["application"])
        assert column["nodes"] == own["nodes"]


def test_gaps_of_the_plan_and_of_the_studies_are_listed(run: Path) -> None:
    document, page = reported(run)

    series = document["series"]
    assert series["deviations"] == [
        {"study": "kitchen-study", "deviation": "application `purple` belongs to none of its teams"}
    ]
    assert series["untested"] == [
        "application `absent` is in no study",
        "scenario `museum` is in no study",
        "application `red` meets scenario `kitchen` in no study",
        "no study calls for users of type `everyday`",
    ]
    assert "application purple belongs to none of its teams" in page


def test_the_page_describes_rates_like_the_report_of_the_study(run: Path) -> None:
    _, page = reported(run)

    text = " ".join(page.split())
    assert "2 of 11, 18.2%" in text
    assert "5.1 to 47.7" in text
    assert "1 failed" in text
    assert "The studies hold 2 versions of guideline spoils" in text
    assert 'href="cinema-study/report.html"' in text
    assert "<script" not in text


def test_rates_of_ten_or_more_dialogues_have_a_bar_on_a_common_scale(run: Path) -> None:
    document, page = reported(run)
    drawn = [rate for rate in document["rates"] if rate["value"] is not None and rate["n"] >= 10]
    scales = set(re.findall(r'<svg class="scale".*?</svg>', page, re.DOTALL))

    assert 0 < len(drawn) == page.count('<svg class="strip')
    assert len(scales) == 1


def test_organisers_of_a_series_get_the_data_card_of_each_study(run: Path) -> None:
    ended = command("report", run / "series" / "spring.yaml", "--for", "organiser")
    report = (run / "series-report-spring" / "cinema-study" / "report.html").read_text()

    assert ended.code == 0, ended.err
    assert "Data card" in report
    assert "People and sessions by level" not in report


def test_a_report_changes_no_version_of_code_beside_the_study(run: Path) -> None:
    reported(run)

    again = command("report", run / "cinema.yaml")

    assert "has changed since its last run" not in again.err
    assert again.code == 0


def test_a_study_without_a_run_is_named_and_excluded_on_request(folder: Path) -> None:
    assert command("run", folder / "cinema.yaml").code == 0
    path = folder / "series" / "spring.yaml"

    refused = command("report", path)
    partial = command("report", path, "--partial", "--json")

    assert (refused.code, "`kitchen-study` has not been run" in refused.err) == (2, True)
    assert (partial.code, json.loads(partial.out)["not_run"]) == (0, ["kitchen.yaml"])
    assert "Not run, and not in this report: kitchen.yaml" in (folder / "series-report-spring/series.html").read_text()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("studies: [../secret.yaml]\n", "lies outside of the series' folder"),
        ("studies: [gone.yaml]\n", "there is no study file `gone.yaml`"),
        ("studies: [cinema.yaml, other.yaml]\n", "`other.yaml` belongs to series `none`"),
        ("studies: [cinema.yaml, cinema.yaml]\n", "two studies of series `spring` are called `cinema-study`"),
        ("studis: [cinema.yaml]\n", "mean `studies`?"),
    ],
    ids=["outside", "gone", "another", "twice", "misspelt"],
)
def test_unreportable_series_are_refused_with_a_remedy(run: Path, plan: str, words: str) -> None:
    (run / "series" / "spring.yaml").write_text(plan)

    ended = command("report", run / "series" / "spring.yaml")

    assert ended.code == 2
    assert words in " ".join(ended.err.split())


def test_a_series_without_studies_explains_how_to_add_them(folder: Path) -> None:
    (folder / "series" / "autumn.yaml").write_text("ai_type: generative\n")

    ended = command("report", folder / "series" / "autumn.yaml")

    assert ended.code == 2
    assert "says `series: autumn`. Add that line to each study" in " ".join(ended.err.split())


def test_the_report_for_a_team_contains_its_own_studies_and_applications(run: Path) -> None:
    (run / "series" / "spring.yaml").write_text(PLAN.replace("two: [absent]", "two: [absent, purple]"))
    ended = command("report", run / "series" / "spring.yaml", "--for", "team:two")
    out = run / "series-report-spring-for-team-two"
    document, page = json.loads((out / "series.json").read_text()), (out / "series.html").read_text()

    assert ended.code == 0, ended.err
    assert [one["name"] for one in document["studies"]] == ["kitchen-study"]
    assert document["series"]["published"]["teams"] == [{"name": "two", "applications": ["absent", "purple"]}]
    assert {one["application"] for one in document["rates"]} == {"purple"}
    assert not any(name in page for name in ("blue", "cinema-study"))
    assert list(published_form().iter_errors(document)) == []
    assert (out / "kitchen-study" / "report-for-team-two.html").is_file()


def test_a_series_has_a_public_report_and_refuses_an_unknown_team(run: Path) -> None:
    public = command("report", run / "series" / "spring.yaml", "--for", "public")
    unknown = command("report", run / "series" / "spring.yaml", "--for", "team:three")

    assert public.code == 0, public.err
    assert (run / "series-report-spring-for-public" / "cinema-study" / "report-for-public.html").is_file()
    assert (unknown.code, "no team or application `three`" in unknown.err) == (2, True)


def test_the_review_of_a_series_is_part_of_its_report(run: Path) -> None:
    context = open_study(str(run / "cinema.yaml"))
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    found = {"part": SeriesPart.GUARDRAILS, "by": "account-7", "now": moment}
    add_entry(context.store, "cinema-study", kind=EntryKind.ASSESSMENT, text="Hints pass.", **found)
    add_entry(context.store, "cinema-study", kind=EntryKind.DECISION, text="State hints.", because=[1], **found)
    context.close()
    document, page = reported(run)

    assert [(one["kind"], one["because"], one["state"]) for one in document["review"]] == [
        ("assessment", [], None),
        ("decision", [1], "open"),
    ]
    assert list(published_form().iter_errors(document)) == []
    assert "State hints." in page
    assert "account-7" not in page + json.dumps(document)
