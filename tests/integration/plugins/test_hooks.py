"""Model providers, exporters and charts of plugins take part in runs and exports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import theodolite as th
from theodolite.bootstrap import plugins as installed
from theodolite.bootstrap.application_model import ApplicationModel, ChatLine
from theodolite.bootstrap.exchange import ExportForm, write_export, write_plugin_export
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.main import cli
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import InputError
from theodolite.domain.flow import AskModel, Reply
from theodolite.plugins import ExportedRun, Exporter, ModelProvider, PluginChart, Plugins
from theodolite.ports.application import OnChunk


class Upper:
    """A model that answers in capitals, or raises what its name says."""

    def __init__(self, endpoint: ModelEndpoint, key: str | None) -> None:
        self.endpoint, self.key = endpoint, key

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        if self.endpoint.model == "broken":
            message = "no such deployment"
            raise LookupError(message)
        return Reply(text=f"{request.messages[-1].text.upper()} {self.key or 'no key'}")

    async def close(self) -> None:
        return None


def write_ids(run: ExportedRun, path: Path) -> int:
    ids = [str(row["dialogue"]) for row in run.rows]
    path.write_text("\n".join(ids), encoding="utf-8")
    return len(ids)


def draw_count(run: ExportedRun) -> str:
    return f"<svg xmlns='http://www.w3.org/2000/svg'><text>{len(list(run.rows))} rows</text></svg>"


PARTS = {
    "models": ModelProvider(name="our-house/upper", open=Upper),
    "exporters": Exporter(name="our-house/ids", write=write_ids, file="ids.txt"),
    "charts": PluginChart(name="our-house/count", draw=draw_count),
}


@pytest.fixture(autouse=True)
def plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    value = Plugins(names=("our-house",), parts={hook: (("our-house", part),) for hook, part in PARTS.items()})
    monkeypatch.setattr(installed, "_installed", lambda: value)
    return


STUDY = """\
study: small
models: {MODEL}
applications: {bot: {kind: model, model: large}}
scenarios: {talk: {scripts: {hello: Hello?, bye: Bye?}}}
judges: {loud: {ask: Is it loud?, defect: "== yes", rule: {contains: "HELLO"}}}
"""


def study_of(folder: Path, model: str) -> Path:
    (folder / "study.yaml").write_text(STUDY.replace("{MODEL}", model), encoding="utf-8")
    return folder


def test_a_model_of_a_provider_replies(tmp_path: Path) -> None:
    result = th.run(str(study_of(tmp_path, "{large: {plugin: our-house/upper, name: m}}")))

    rows = result.to_frame()
    assert list(rows["response"]) == ["HELLO? no key", "BYE? no key"]
    assert list(rows["defect"]) == [True, False]


def test_an_exception_of_a_provider_fails_the_dialogue_and_is_named(tmp_path: Path) -> None:
    result = th.run(str(study_of(tmp_path, "{large: {plugin: our-house/upper, name: broken}}")))

    failures = list(result.evidence.archive.failures())
    assert len(failures) == 2
    assert "(our-house/upper) raised LookupError: no such deployment" in failures[0].message


def test_an_unknown_provider_is_an_error_of_the_study(tmp_path: Path) -> None:
    with pytest.raises(th.StudyError) as raised:
        th.run(str(study_of(tmp_path, "{large: {plugin: our-house/uper, name: m}}")))

    assert "has the model provider `our-house/uper`. Did you mean `our-house/upper`?" in " ".join(
        str(raised.value).split()
    )


async def test_other_tools_call_a_model_of_a_provider_as_an_application(tmp_path: Path) -> None:
    model = ApplicationModel(str(study_of(tmp_path, "{large: {plugin: our-house/upper, name: m}}")), "bot", environ={})
    reply = await model.reply([ChatLine(role="user", text="Hello?")], session="s1")
    await model.close()

    assert reply.text == "HELLO? no key"


def test_exporter_and_chart_write_the_run(tmp_path: Path) -> None:
    th.run(str(study_of(tmp_path, "{large: {plugin: our-house/upper, name: m}}")))
    context = open_study(str(tmp_path))
    try:
        path, n = write_plugin_export(context, "our-house/ids", "")
        write_export(context, tmp_path / "figures", ExportForm.FIGURES)
        with pytest.raises(InputError, match=r"no installed plugin has the exporter `our-house/id`\. Did you mean"):
            write_plugin_export(context, "our-house/id", "")
    finally:
        context.close()

    assert (path.read_text(encoding="utf-8"), n) == ("d001\nd002", 2)
    assert "2 rows" in (tmp_path / "figures" / "our-house-count.svg").read_text(encoding="utf-8")


def test_the_export_command_accepts_a_format_of_a_plugin(tmp_path: Path) -> None:
    th.run(str(study_of(tmp_path, "{large: {plugin: our-house/upper, name: m}}")))

    shown = CliRunner().invoke(cli, ["export", str(tmp_path), "--format", "our-house/ids", "--json"])

    assert json.loads(shown.output) == {"exit_code": 0, "file": str(tmp_path / "ids.txt"), "rows": 2}


def test_the_list_contains_built_in_parts_and_those_of_plugins() -> None:
    shown = CliRunner().invoke(cli, ["plugins"]).output.splitlines()

    assert "model provider  our-house/upper  (our-house)" in shown
    assert "exporter        csv  (built in)" in shown
    assert "importer        promptfoo  (built in)" in shown
