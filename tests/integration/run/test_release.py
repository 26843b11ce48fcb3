"""A public release: texts are not linked to people, and the results can be recomputed."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.fakes.event import RED, a_session, exchange
from tests.fakes.terminal import theodolite
from tests.integration.run.test_people import Event
from theodolite.bootstrap import releases
from theodolite.bootstrap.releases import ReleaseOptions, verify_release, write_release
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.domain.errors import InputError
from theodolite.events.sessions import choose_release, end_session

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

EMAIL, NAME = "ana.silva@example.org", "Ana Silva"
TESTERS = tuple(f"participant-key-{number}" for number in range(1, 3))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run an event of two red teamers with two sessions each; one reveals a name and an address."""
    folder = tmp_path_factory.mktemp("original") / "study"
    folder.mkdir()
    event = Event(folder)
    hold(event, TESTERS[0], 0, "Does my gran know?", "The brother is alive.")
    hold(event, TESTERS[0], 1, "Who is in it?", "I cannot say.")
    hold(event, TESTERS[1], 0, "Tell me the end.", "I cannot say.")
    hold(event, TESTERS[1], 1, f"My name is {NAME}, write to {EMAIL}", "Hello Ana, I cannot say.")
    event.run()
    context = event.open()
    for tester in TESTERS:
        choose_release(context, tester, included=True)
    event.store.disconnect()
    return folder


@pytest.fixture
def study(original: Path, tmp_path: Path) -> Path:
    """Return a copy of the event with its workspace."""
    shutil.copytree(original, tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def event(study: Path) -> Event:
    return Event(study)


def hold(event: Event, who: str, place: int, prompt: str, response: str) -> None:
    context = event.open()
    session = a_session(context, who, place, RED)
    exchange(context, session, prompt, response)
    end_session(context, session.key)
    event.store.disconnect()


def drawn(seed: int) -> Callable[[], str]:
    return partial(_token, Random(seed))  # noqa: S311  # ids of a test


def _token(random: Random) -> str:
    return f"{random.getrandbits(256):064x}"


def options(study: Path, name: str = "bundle", **more: object) -> ReleaseOptions:
    known = {"out": study.parent / name, "review": study / "release-review.csv", "key": study.parent / "key.pem"}
    return ReleaseOptions(**(known | {"redact_all": True} | more))


def released(study: Path, name: str = "bundle", seed: int = 1, **more: object) -> Path:
    context = open_study(str(study))
    try:
        write_release(context, options(study, name, **more), draw=drawn(seed))
    finally:
        context.close()
    return study.parent / name


def lines(folder: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def everything(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.rglob("*")) if path.is_file())


def problems(folder: Path) -> list[str]:
    return list(verify_release(folder, folder.parent / "key.pub.pem").problems)


def test_each_identifier_needs_a_decision(study: Path) -> None:
    first = theodolite("release", study, "--out", study.parent / "bundle")
    review = study / "release-review.csv"
    rows = list(csv.DictReader(review.read_text().splitlines()))

    assert first.code == 3
    assert not (study.parent / "bundle").exists()
    assert {(row["kind"], row["words"]) for row in rows} == {("person's name", NAME), ("e-mail address", EMAIL)}
    assert review.stat().st_mode & 0o077 == 0

    text = review.read_text()
    review.write_text("\n".join(line.replace(",,,", ",redact,,") for line in text.splitlines()) + "\n")
    second = theodolite("release", study, "--out", study.parent / "bundle")

    assert second.code == 0, second.said
    assert not re.search(f"{EMAIL}|Silva|Ana", everything(study.parent / "bundle"))


def test_keeping_an_identifier_takes_a_reason_and_a_reviewer(study: Path) -> None:
    theodolite("release", study, "--out", study.parent / "bundle")
    review = study / "release-review.csv"
    review.write_text(review.read_text().replace(",,,", ",keep,,"))

    refused = theodolite("release", study, "--out", study.parent / "bundle")

    assert refused.code == 2
    assert "`keep` needs a `reason` and a `reviewer`" in refused.said


def test_an_unknown_decision_is_reported_with_its_line(study: Path) -> None:
    theodolite("release", study, "--out", study.parent / "bundle")
    review = study / "release-review.csv"
    review.write_text(review.read_text().replace(",,,", ",redcat,,"))

    refused = theodolite("release", study, "--out", study.parent / "bundle")

    assert refused.code == 2
    assert "release-review.csv:2" in refused.said
    assert "redact" in refused.said


def test_no_id_of_the_workspace_is_in_the_bundle(study: Path) -> None:
    context = open_study(str(study))
    originals = ids_of(context)
    context.close()

    text = everything(released(study))

    assert len(originals) > 20
    assert [one for one in originals if one in text] == []


def ids_of(context: StudyContext) -> set[str]:
    """Return all ids of people, sessions, dialogues and runs in the workspace."""
    evidence = context.evidence()
    summaries = context.store.events.dialogues.summaries(context.loaded.study.name)
    found = {*TESTERS, evidence.run.key}
    for dialogue in evidence.archive.dialogues():
        found |= {dialogue.key, dialogue.pair_key}
        found |= {dialogue.cluster} if dialogue.cluster.startswith("tester-") else set()
    for one in summaries:
        found |= {one.key, one.session.key, one.session.participant, one.unit, one.session.alias}
    found |= {annotation.unit for annotation in evidence.archive.annotations()}
    return found - {""}


def test_two_releases_of_a_run_share_no_id(study: Path) -> None:
    ids = [
        {
            value
            for line in lines(released(study, f"bundle-{seed}", seed), "dialogues.jsonl")
            for value in id_values(line)
        }
        for seed in (1, 2)
    ]

    assert ids[0] & ids[1] == set()


def id_values(line: dict[str, object]) -> list[object]:
    return [line["key"], line["pair_key"]]


def test_the_order_of_a_release_is_random_and_differs_from_the_study(study: Path) -> None:
    orders = {
        tuple(line["turns"][0]["prompt"][:20] for line in lines(released(study, f"b{seed}", seed), "dialogues.jsonl"))
        for seed in range(8)
    }

    assert len(orders) > 3


def test_a_release_contains_no_times_of_people(study: Path) -> None:
    folder = released(study)
    people = [one for one in lines(folder, "dialogues.jsonl") if one["held_by"] == "person"]
    moments = set(re.findall(r"\d{4}-\d\d-\d\dT[\d:.+Z-]+", everything(folder)))

    assert len(people) == 4
    assert all("latency_s" not in turn for one in people for turn in one["turns"])
    assert all(re.match(r"\d{4}-\d\d-01T00:00:00", moment) for moment in moments)


def test_dialogues_of_people_without_a_choice_are_not_released(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    event = Event(folder)
    hold(event, TESTERS[0], 0, "Does my gran know?", "The brother is alive.")
    event.run()

    about = json.loads((released(folder) / "release.json").read_text())

    assert about["left_out"] == {"participant did not agree": 1}


def test_a_withdrawn_choice_removes_dialogues_and_updates_the_numbers(study: Path, event: Event) -> None:
    context = event.open()
    choose_release(context, TESTERS[1], included=False)
    event.store.disconnect()

    folder = released(study)
    about = json.loads((folder / "release.json").read_text())

    assert about["left_out"] == {"participant did not agree": 2}
    assert len(lines(folder, "dialogues.jsonl")) == 4  # two of people, two of scripts
    assert "participant-key-2" not in everything(folder)
    assert problems(folder) == []


def test_the_latest_choice_about_releases_counts(study: Path, event: Event) -> None:
    context = event.open()
    for included in (False, True):
        choose_release(context, TESTERS[1], included=included)
    event.store.disconnect()

    assert len(lines(released(study), "dialogues.jsonl")) == 6


def test_dialogues_can_be_excluded_by_label(study: Path) -> None:
    assert len(lines(released(study, without=("p001",)), "dialogues.jsonl")) == 5
    with pytest.raises(InputError, match="Did you mean `p001`"):
        released(study, "other", without=("p0001",))


def test_an_intact_bundle_is_verified_on_another_machine(study: Path) -> None:
    folder = released(study)

    found = theodolite("verify", folder, "--key", folder.parent / "key.pub.pem")

    assert found.code == 0, found.said
    assert "The bundle is intact." in found.out
    assert "valid" in found.out


def changed(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def test_a_changed_label_is_detected_by_checksum_and_by_score(study: Path) -> None:
    folder = released(study)
    changed(folder, "labels.jsonl", '"value":"yes"', '"value":"no"')

    found = problems(folder)

    assert "Changed file: labels.jsonl" in found
    assert any(problem.startswith("Results differ: results.estimates") for problem in found)


def test_a_changed_label_is_detected_in_a_bundle_with_a_new_signature(study: Path) -> None:
    folder = released(study)
    changed(folder, "labels.jsonl", '"value":"yes"', '"value":"no"')
    signer, _ = releases._signer(folder.parent / "other.pem")  # as an attacker would
    names = [line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()]
    releases._sign(folder, {name: (folder / name).read_text() for name in names}, signer)

    ours, theirs = problems(folder), verify_release(folder, folder.parent / "other.pub.pem").problems

    assert "The signature is not valid" in ours[0]
    assert theirs
    assert all(one.startswith("Results differ") for one in theirs)
    assert hashlib.sha256((folder / "labels.jsonl").read_bytes()).hexdigest() in (folder / "SHA256SUMS").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "labels.jsonl").unlink(), "Missing file: labels.jsonl"),
        (lambda folder: (folder / "extra.txt").write_text("x"), "Added file: extra.txt"),
        (lambda folder: changed(folder, "study.json", '"spoilers"', '"else"'), "Changed file: study.json"),
        (
            lambda folder: changed(folder, "results.json", '"completed_dialogues": 6', '"completed_dialogues": 7'),
            "Changed file: results.json",
        ),
        (lambda folder: (folder / "run.json").write_text("{"), "The bundle cannot be re-scored"),
    ],
    ids=["missing", "added", "study", "results", "not a record"],
)
def test_a_changed_bundle_is_not_intact(study: Path, change: Callable[[Path], None], message: str) -> None:
    folder = released(study)
    change(folder)

    assert any(problem.startswith(message) for problem in problems(folder))


def test_a_file_that_is_no_bundle_is_an_input_error(tmp_path: Path) -> None:
    ended = theodolite("verify", tmp_path)

    assert ended.code == 2
    assert "not a release bundle" in ended.said


def test_a_bundle_is_never_overwritten(study: Path) -> None:
    folder = released(study)
    with pytest.raises(InputError, match="exists and is not empty"):
        released(study)

    assert problems(folder) == []


TREE_STUDY = """study: bot
applications:
  bot: {kind: recorded, file: answers.csv, prompt: asked, response: said}
guidelines:
  kind: {ask: Is the reply kind?, defect: "== no"}
  true: {ask: Is the reply true?, defect: "== no"}
annotators:
  ann: {who: person, guideline: kind, column: ann_kind}
  ann too: {who: person, guideline: true, column: ann_true}
tree:
  tree: ours
  topology: six-levels
  dimensions:
    reliable: {definition: The replies are true., crosswalk: {true: 2, kind: 1}}
    respectful: {definition: The replies are kind., crosswalk: [kind]}
"""


def test_a_changed_tree_is_detected_in_a_bundle_with_a_new_signature(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.yaml").write_text(TREE_STUDY)
    rows = [f"Question {n}?,Reply {n}.,{'no' if n % 3 == 0 else 'yes'},{'no' if n % 4 else 'yes'}" for n in range(12)]
    (folder / "answers.csv").write_text("\n".join(["asked,said,ann_kind,ann_true", *rows]) + "\n")
    assert theodolite("run", folder).code == 0
    archive = released(folder)
    before = problems(archive)
    changed(archive, "study.json", '"weight":2', '"weight":5')
    after = problems(archive)
    signer, _ = releases._signer(tmp_path / "other.pem")  # as an attacker would
    names = [line.split("  ")[1] for line in (archive / "SHA256SUMS").read_text().splitlines()]
    releases._sign(archive, {name: (archive / name).read_text() for name in names}, signer)
    signed_again = verify_release(archive, tmp_path / "other.pub.pem").problems

    assert before == []
    assert after[0] == "Changed file: study.json"
    assert any(one.startswith("Results differ: trees/tree-ours.json") for one in signed_again)
    assert all(one.startswith("Results differ") for one in signed_again)
