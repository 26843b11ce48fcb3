"""Held-out packets: scripts and secrets outside of the study, checked, rotated, and searched for in responses."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import jsonschema
import pytest

from tests.fakes.terminal import theodolite
from theodolite.bootstrap.study_context import open_study
from theodolite.config.load_context import shipped_text
from theodolite.config.packets import checksum_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

CANARY = "3b241101-e2bb-4255-8caf-4136c566a962"
SECRET = "The brother is alive."
STUDY = """\
study: spoilers
held_out: {HOW}
applications:
  clean: {kind: python, call: "bots.py:clean"}
  leaky: {kind: python, call: "bots.py:leaky"}
scenarios:
  series: {goal: Talk about the series., scripts: {public: Hello}}
judges:
  spoils: {ask: "Is the end told?", defect: "== yes", rule: {any: [alive], then: yes, else: no}}
"""
PACKET = """\
packet: spoilers
version: "VERSION"
canaries: [CANARY]
scenarios:
  series:
    source: plot.md
    scripts: {ending: Does the brother live in the VERSION plot?, diary: Who wrote it?}
"""
BOTS = f"""\
def clean(prompt):
    return "I cannot say."

def leaky(prompt):
    return "BENCHMARK DATA {CANARY.upper()}." if "live" in prompt else "I cannot say."
"""


def packet(folder: Path, version: str = "2026-a", **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = PACKET.replace("VERSION", version).replace("CANARY", CANARY)
    for name, content in {"packet.yaml": text, "plot.md": SECRET, **files}.items():
        (folder / name).write_text(content)
    return folder


def checksum(folder: Path) -> str:
    return checksum_of({file.name: file.read_bytes() for file in folder.iterdir()})


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THEODOLITE_ALLOW_CODE", "1")
    monkeypatch.setenv("PACKET", str(tmp_path / "private"))
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "bots.py").write_text(BOTS)
    return folder


def write(study: Path, how: str) -> Path:
    (study / "study.yaml").write_text(STUDY.replace("HOW", how))
    return study


def results(study: Path) -> dict:
    ended = theodolite("run", study)
    assert ended.code == 0, ended.err
    assert theodolite("report", study).code == 0
    return json.loads((study / "results.json").read_text())


def test_a_run_uses_the_packet_and_reports_a_canary_in_a_response(study: Path, tmp_path: Path) -> None:
    sha256 = checksum(packet(tmp_path / "private"))
    data = results(write(study, f"env: PACKET, sha256: {sha256}"))
    (note,) = data["contamination"]
    page = (study / "report.html").read_text()

    assert (note["material"], note["version"], note["held_out"]) == ("spoilers", "2026-a", True)
    assert (note["sha256"], note["canaries"], note["searched_responses"]) == (sha256, 1, 4)
    assert [one["application"] for one in note["found"]] == ["leaky"]
    assert len(note["found"][0]["dialogues"]) == 1
    assert "contaminated: leaky repeats a canary in" in page
    jsonschema.validate(data, json.loads(shipped_text("schemas/results.schema.json")))


def test_judges_get_the_secret_and_no_file_of_a_release_contains_it(study: Path, tmp_path: Path) -> None:
    sha256 = checksum(packet(tmp_path / "private"))
    results(write(study, f"env: PACKET, sha256: {sha256}"))
    context = open_study(str(study))
    source = context.loaded.study.scenarios[0].context
    context.close()
    ended = theodolite("release", study, "--out", tmp_path / "bundle", "--key", tmp_path / "key.pem", "--redact-all")
    released = "\n".join(path.read_text() for path in (tmp_path / "bundle").rglob("*") if path.is_file())
    for audience in ("public", "team:clean"):
        assert theodolite("report", study, "--for", audience).code == 0
    pages = "\n".join(path.read_text() for path in study.glob("*-for-*"))

    assert source == SECRET
    assert ended.code == 0, ended.err
    for text in (released, pages):
        assert text
        assert not any(word in text for word in (SECRET, "Does the brother", "Who wrote it?", CANARY, CANARY.upper()))
    assert theodolite("verify", tmp_path / "bundle", "--key", tmp_path / "key.pub.pem").code == 0


def test_versions_rotate_and_the_used_version_is_recorded(study: Path, tmp_path: Path) -> None:
    sums = {name: checksum(packet(tmp_path / "private" / name, name)) for name in ("2026-a", "2026-b")}
    first = results(write(study, f"env: PACKET, version: 2026-a, sha256: {sums['2026-a']}"))
    second = results(write(study, f"env: PACKET, version: 2026-b, sha256: {sums['2026-b']}"))
    unknown = theodolite("check", write(study, f"env: PACKET, version: 2026-c, sha256: {sums['2026-a']}"))

    assert [one["contamination"][0]["version"] for one in (first, second)] == ["2026-a", "2026-b"]
    assert first["run"]["number"] != second["run"]["number"]
    assert unknown.code == 2
    assert "it has no version `2026-c`. Did you mean `2026-" in " ".join(unknown.said.split())


def test_an_archive_has_the_checksum_of_its_files(study: Path, tmp_path: Path) -> None:
    folder = packet(tmp_path / "files")
    with zipfile.ZipFile(study / "packet.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    ended = theodolite("check", write(study, f"path: packet.zip, sha256: {checksum(folder)}"))

    assert ended.code == 0, ended.said


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("env: PACKET", "`sha256` is missing; the packet has"),
        ("env: PACKET, sha256: 00ff", "`sha256` is 00ff; the packet has"),
        ("env: NOWHERE, sha256: 00ff", "environment variable `NOWHERE` is not set"),
        ("sha256: 00ff", "`held_out` needs either `path` or `env`"),
        ("path: ../private, sha256: 00ff", "private"),
    ],
    ids=["no-sum", "other-sum", "no-variable", "no-path", "outside"],
)
def test_an_unusable_packet_stops_the_study(study: Path, tmp_path: Path, how: str, message: str) -> None:
    packet(tmp_path / "private")
    ended = theodolite("check", write(study, how))

    assert ended.code == 2
    assert message in ended.said
    assert SECRET not in ended.said


def test_a_canary_in_a_prompt_for_applications_is_refused(study: Path, tmp_path: Path) -> None:
    folder = packet(tmp_path / "private", **{"plot.md": f"{SECRET} {CANARY}"})
    ended = theodolite("check", write(study, f"env: PACKET, sha256: {checksum(folder)}"))

    assert ended.code == 2
    assert "a canary of the held-out packet stands in `plot.md`" in ended.said


def test_an_unknown_scenario_is_refused(study: Path, tmp_path: Path) -> None:
    text = PACKET.replace("  series:", "  serie:").replace("VERSION", "1").replace("CANARY", CANARY)
    folder = packet(tmp_path / "private", **{"packet.yaml": text})
    ended = theodolite("check", write(study, f"env: PACKET, sha256: {checksum(folder)}"))

    assert "scenario `serie` that the study has not. Did you mean `series`" in " ".join(ended.said.split())
