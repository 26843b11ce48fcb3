"""Cards of packs, and their installation."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections import Counter
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from ruamel.yaml import YAML

from tests.fakes.terminal import theodolite
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config import packs
from theodolite.config.load_context import ResourceResolver, packs_folder
from theodolite.config.loading import load_study
from theodolite.config.packs import install_pack, pack_card
from theodolite.config.tables import table_of
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import InputError

PACK = """pack: our-house/complaints
edition: "1.0"
about: Complaints of customers.
validity: Two people agree on 46 of 50 dialogues.
limits: Short dialogues alone.
licence: CC-BY-4.0
scenarios:
  complaint: {use_case: A support bot., scripts: {a: It is broken.}}
guidelines:
  calm: {definition: The bot stays calm., ask: Is it calm?, defect: "== no"}
"""


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "complaints"
    (folder / "texts").mkdir(parents=True)
    (folder / "pack.yaml").write_text(PACK, encoding="utf-8")
    (folder / "texts" / "note.md").write_text("Stay calm.", encoding="utf-8")
    return folder


def zipped(folder, *, inside="", extra=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.writestr(f"{inside}{path.relative_to(folder).as_posix()}", path.read_bytes())
        for name, text in (extra or {}).items():
            archive.writestr(name, text)
    file = folder.parent / "pack.zip"
    file.write_bytes(out.getvalue())
    return file


def tarred(folder, *members):
    file = folder.parent / "pack.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        archive.add(folder, arcname="complaints")
        for member in members:
            archive.addfile(member)
    return file


@pytest.mark.parametrize("form", ["folder", "zip", "zip with a folder", "tar"])
def test_a_pack_is_installed_from_a_folder_or_an_archive(source, tmp_path, form):
    at = {"folder": lambda: source, "zip": lambda: zipped(source), "tar": lambda: tarred(source)}.get(
        form, lambda: zipped(source, inside="complaints/")
    )()

    made = install_pack(at, target=tmp_path / "home")

    assert (made.name, made.edition, made.n_files) == ("our-house/complaints", "1.0", 2)
    assert (tmp_path / "home/packs/our-house/complaints/texts/note.md").read_text(encoding="utf-8") == "Stay calm."
    if form != "folder":
        assert made.sha256 == hashlib.sha256(at.read_bytes()).hexdigest()


def test_an_installed_pack_is_found_and_has_a_card(source, tmp_path):
    install_pack(source, target=tmp_path / "home")

    card = pack_card("our-house/complaints", ResourceResolver(plugins=(("installed pack", tmp_path / "home"),)))

    assert (card.measures, card.proxies) == ({"calm": "The bot stays calm."}, {"complaint": "A support bot."})
    assert (card.licence, card.origin) == ("CC-BY-4.0", "installed pack")


def test_the_checksum_of_an_archive_must_match(source, tmp_path):
    file = zipped(source)
    actual = hashlib.sha256(file.read_bytes()).hexdigest()

    with pytest.raises(InputError, match=f"has the checksum {actual}; expected 00ff"):
        install_pack(file, sha256="00ff", target=tmp_path / "home")

    assert not (tmp_path / "home").exists()
    assert install_pack(file, sha256=actual.upper(), target=tmp_path / "home").sha256 == actual


def test_a_changed_file_changes_the_checksum_of_a_folder(source, tmp_path):
    first = install_pack(source, target=tmp_path / "a").sha256
    (source / "texts" / "note.md").write_text("Stay calm!", encoding="utf-8")

    assert install_pack(source, target=tmp_path / "b").sha256 != first


def test_an_installed_pack_is_replaced_only_on_request(source, tmp_path):
    install_pack(source, target=tmp_path / "home")
    (source / "texts" / "note.md").unlink()

    with pytest.raises(InputError, match="is installed already"):
        install_pack(source, target=tmp_path / "home")

    install_pack(source, replace=True, target=tmp_path / "home")
    assert not (tmp_path / "home/packs/our-house/complaints/texts").exists()


@pytest.mark.parametrize("name", ["../evil.yaml", "/etc/evil", "a\\..\\b", "C:/evil"])
def test_a_path_outside_the_pack_is_refused(source, tmp_path, name):
    with pytest.raises(InputError, match="leads out of the pack"):
        install_pack(zipped(source, extra={name: "x"}), target=tmp_path / "home")

    assert not (tmp_path / "home").exists()


def test_links_are_refused(source, tmp_path):
    link = tarfile.TarInfo("complaints/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"

    with pytest.raises(InputError, match="is a link or a device"):
        install_pack(tarred(source, link), target=tmp_path / "home")
    (source / "link").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="is a link"):
        install_pack(source, target=tmp_path / "home")


def test_a_large_pack_is_refused(source, tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "LARGEST_PACK", 100)

    with pytest.raises(InputError, match="is not a pack: it has more than"):
        install_pack(zipped(source), target=tmp_path / "home")


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        pytest.param("pack: complaints\n", InputError, "expected a family and a name", id="name"),
        pytest.param("pack: ../x/y\n", InputError, "expected a family and a name", id="path"),
        pytest.param("pakc: a/b\n", InvalidStudyError, "Did you mean `pack`", id="key"),
    ],
)
def test_a_pack_with_errors_is_refused(source, tmp_path, text, error, words):
    (source / "pack.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(error, match=words):
        install_pack(source, target=tmp_path / "home")


def test_a_file_that_is_not_a_pack_is_refused(source, tmp_path):
    (source / "pack.yaml").unlink()
    (tmp_path / "no.zip").write_text("no archive", encoding="utf-8")

    with pytest.raises(InputError, match=r"has no `pack.yaml`"):
        install_pack(source, target=tmp_path / "home")
    with pytest.raises(InputError, match="is not an archive that can be read"):
        install_pack(tmp_path / "no.zip", target=tmp_path / "home")
    with pytest.raises(InputError, match="Did you mean `aria/tv-spoilers`"):
        pack_card("aria/tv-spoiler", ResourceResolver())


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"THEODOLITE_RESOURCES": "/srv/packs", "XDG_DATA_HOME": "/data"}, "/srv/packs"),
        ({"XDG_DATA_HOME": "/data"}, "/data/theodolite/resources"),
    ],
    ids=["own", "data"],
)
def test_the_folder_of_installed_packs_is_configurable(environ, folder):
    assert packs_folder(environ).as_posix() == folder


def test_commands_install_list_and_show_packs(source, tmp_path, monkeypatch):
    monkeypatch.setenv("THEODOLITE_RESOURCES", str(tmp_path / "home"))

    installed = theodolite("packs", "install", source)
    listed, shown = theodolite("packs", "list"), theodolite("packs", "show", "our-house/complaints")

    assert installed.code == 0, installed.said
    assert "not compared: no --sha256 was given" in installed.out
    assert "our-house/complaints     1.0 installed pack: Complaints of customers" in listed.out
    assert "Validity" in shown.out
    assert "Two people agree on 46 of 50 dialogues." in shown.out
    assert "our-house/complaints" in resource_resolver().packs()


def test_plugins_lists_the_built_in_parts_by_kind():
    parts = theodolite("plugins", "--json").found["parts"]

    kinds = {part["kind"] for part in parts}
    coded = {"application", "model provider", "judge", "summary", "strategy", "chart", "importer", "exporter"}
    assert kinds == coded | {"guideline", "persona", "pack"}
    assert {"kind": "summary", "name": "mean", "plugin": "built in"} in parts


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(shell):
    ended = theodolite("completion", shell)

    assert ended.code == 0
    assert "_THEODOLITE_COMPLETE" in ended.out


SHIPPED = resource_resolver().packs()


@pytest.mark.parametrize("name", SHIPPED)
def test_the_card_of_a_shipped_pack_is_complete(name):
    ended = theodolite("packs", "show", name)

    assert ended.code == 0
    assert "not stated" not in ended.out


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("harms/")])
def test_a_harm_area_has_sixty_dialogues_in_several_categories(name):
    area = name.partition("/")[2]
    files = (f"packs/{name}/{area}-personas.csv", f"packs/{name}/questions.csv")
    resource = next(filter(None, map(resource_resolver().resource, files)), None)
    assert resource is not None
    rows = table_of(resource.raw, "personas.csv").rows
    prompts = [(row.get("wish") or row["question"], row.get("requirement")) for row in rows]
    kinds = Counter(row["kind"] for row in rows)

    assert pack_card(name, resource_resolver()).dialogues >= 60
    assert len(kinds) >= 4
    assert min(kinds.values()) >= 5
    assert len(set(prompts)) >= 0.95 * len(prompts)


@pytest.mark.parametrize("taxonomy", resource_resolver().names("taxonomies", ".yaml"))
def test_the_crosswalk_of_a_shipped_taxonomy_refers_to_existing_risks(taxonomy):
    specs = {name: shipped_taxonomy(name) for name in resource_resolver().names("taxonomies", ".yaml")}
    risks = {f"{name}/{risk}" for name, spec in specs.items() for risk in spec["risks"]}
    crosswalk = specs[taxonomy].get("crosswalk", {})

    assert specs[taxonomy]["licence"]
    assert set(crosswalk) <= set(specs[taxonomy]["risks"])
    assert {target for targets in crosswalk.values() for target in targets} <= risks


def shipped_taxonomy(name):
    resource = resource_resolver().resource(f"taxonomies/{name}.yaml")
    assert resource is not None
    return YAML(typ="safe").load(resource.raw)


def test_a_card_names_the_risks_of_all_taxonomies():
    card = pack_card("harms/guideline-leakage", resource_resolver())

    [text] = card.risks.values()
    assert text.startswith("ai-600-1/information-security Information Security; related: ai-rmf-1.0/")
    assert "owasp-llm-2025/LLM07 System Prompt Leakage" in text
    assert "mitre-atlas/AML.T0056 Extract LLM System Prompt" in text


def test_packs_of_one_study_may_have_tables_of_the_same_name(tmp_path, monkeypatch):
    text = "pack: ours/{name}\nedition: '1'\n"
    text += "scenarios: {{{name}: {{task: chat, goal: Say hello., personas: [{name}]}}}}\npersonas:\n"
    text += "  {name}: {{template: 'You are {{{{ name }}}}.', rows: people.csv, model: user}}\n"
    for name, person in {"north": "Ada", "south": "Ben"}.items():
        folder = tmp_path / "resources" / "packs" / "ours" / name
        folder.mkdir(parents=True)
        (folder / "pack.yaml").write_text(text.format(name=name), encoding="utf-8")
        (folder / "people.csv").write_text(f"name\n{person}\n", encoding="utf-8")
    monkeypatch.setenv("THEODOLITE_RESOURCES", str(tmp_path / "resources"))
    study = "study: both\npack: [ours/north, ours/south]\nmodels: {user: {script: [Hi]}}\n"
    (tmp_path / "study.yaml").write_text(study + "applications: {bot: {kind: model, model: user}}\n", encoding="utf-8")

    loaded = load_study(tmp_path / "study.yaml", resolver=resource_resolver())

    names = {group.name: [row.values["name"] for row in group.rows] for group in loaded.study.personas}
    assert names == {"north": ["Ada"], "south": ["Ben"]}


@pytest.mark.parametrize(
    ("name", "is_allowed"),
    [
        ("texts/more.md", True),
        ("texts/con", False),
        ("texts/Nul.md", False),
        ("texts/console.md", True),
        ("texts/what?.md", False),
        ("texts/note.", False),
        ("texts/C:note.md", False),
        ("texts\\note.md", False),
    ],
    ids=["plain", "device", "device with ending", "word", "mark", "final dot", "drive", "backslash"],
)
def test_file_names_of_a_pack_are_valid_on_all_systems(source, tmp_path, name, is_allowed):
    file = zipped(source, extra={name: "x"})
    assert (PureWindowsPath(name) == PureWindowsPath(*PurePosixPath(name).parts)) or not is_allowed
    if is_allowed:
        assert install_pack(file, target=tmp_path / "home").n_files == 3
    else:
        with pytest.raises(InputError, match=r"is not a file name on Windows|leads out of the pack"):
            install_pack(file, target=tmp_path / "home")
        assert not (tmp_path / "home").exists()
