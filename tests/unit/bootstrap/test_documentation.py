"""The documentation of the package: pages, search, and a site whose links all lead somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import pytest

from tests.fakes.terminal import theodolite
from theodolite.bootstrap.documentation import CONTENTS, SKILL, Documentation, documentation, write_site
from theodolite.domain.errors import InputError

LINK = re.compile(r"<a [^>]*href=\"([^\"]+)\"")
ANCHOR = re.compile(r" id=\"([^\"]+)\"")


@pytest.fixture(scope="module")
def source() -> Documentation:
    return documentation()


@pytest.fixture(scope="module")
def site(source, tmp_path_factory) -> Path:
    return write_site(source, tmp_path_factory.mktemp("site")).parent


def test_every_link_of_the_site_leads_to_a_page_and_a_heading(site):
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    anchors = {path: set(ANCHOR.findall(text)) for path, text in texts.items()}
    broken = []
    for path, text in texts.items():
        for link in LINK.findall(text):
            file, _, heading = unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            if "://" not in link and (not target.exists() or (heading and heading not in anchors[target])):
                broken.append(f"{path.relative_to(site)}: {link}")

    assert len(texts) > 100
    assert broken == []


def test_the_site_loads_no_external_resources(site):
    loaded = re.findall(r"(?:src|<link[^>]*href)=\"([^\"]+)\"", (site / "how-to" / "ci-gate.html").read_text())

    assert loaded == ["../style.css", "../search.js"]


def test_the_contents_are_shown_on_each_page_with_the_current_page_marked(site):
    text = (site / "how-to" / "ci-gate.html").read_text(encoding="utf-8")

    assert text.count("aria-current=page") == 1
    assert '<a href="../how-to/ci-gate.html" aria-current=page>Use a study as a gate in CI</a>' in text
    assert '<h3 class="level-3">Builds and operation</h3>' in text
    assert "<!--" not in text.partition("<article>")[2]
    assert "File <code>gate/study.yaml</code>:" in text


def test_the_contents_list_every_page_once(source):
    listed = [page.name for _, _, pages in source.sections() for page in pages]
    guides = {name for name in source.pages if PurePosixPath(name).parts[0] in {"tutorial", "how-to", "explanation"}}

    assert len(listed) == len(set(listed))
    assert guides - set(listed) == set()


@pytest.mark.parametrize("name", ["ci-gate", "how-to/ci-gate", "how-to/ci-gate.md", "/how-to/ci-gate.html"])
def test_a_page_is_found_with_and_without_its_folder(source, name):
    assert source.page(name).title == "Use a study as a gate in CI"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ci-gat", "there is no page `ci-gat`. Did you mean `ci-gate`? Search:  theodolite docs"),
        ("measurement-trees", "Did you mean `explanation/measurement-trees` or `how-to/measurement-trees`?"),
        ("zzzz", "there is no page `zzzz`. Search:  theodolite docs --search WORDS"),
    ],
    ids=["near", "several", "none"],
)
def test_an_unknown_page_is_refused_with_a_suggestion(source, name, text):
    with pytest.raises(InputError, match=re.escape(text)):
        source.page(name)


def test_the_search_requires_all_words_and_ranks_titles_first(source):
    assert source.search("gate CI")[0].name == "how-to/ci-gate"
    assert source.search("gate xylophone") == source.search(" ") == []
    assert source.page(SKILL).text.startswith("---\nname: theodolite\n")


def test_the_command_writes_prints_and_searches(tmp_path):
    written = theodolite("docs", "ci-gate", "--out", tmp_path, "--json")
    printed = theodolite("docs", "ci-gate", "--text")
    found = theodolite("docs", "--search", "gate baseline")
    none = theodolite("docs", "--search", "xylophone")
    unknown = theodolite("docs", "ci-gat")

    assert written.code == 0
    assert json.loads(written.out)["file"] == str((tmp_path / "how-to" / "ci-gate.html").resolve())
    assert printed.out.startswith("# Use a study as a gate in CI\n")
    assert found.out.splitlines()[0].startswith("how-to/ci-gate ")
    assert none.out == "No page contains all words of `xylophone`. Use fewer words.\n"
    assert (unknown.code, "Did you mean `ci-gate`?" in unknown.err) == (2, True)


def test_an_unwritable_folder_is_reported(source, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(InputError, match=r"cannot be written: .*theodolite docs --out DIR"):
        write_site(source, tmp_path / "file")


def test_an_installation_without_pages_names_the_extra_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("theodolite.__file__", str(tmp_path / "src" / "theodolite" / "__init__.py"))

    with pytest.raises(InputError, match="has no documentation"):
        documentation()
    assert CONTENTS == "README"
