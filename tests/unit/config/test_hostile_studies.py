"""A study that means harm is refused in words, and reading it runs none of its code."""

from __future__ import annotations

import pytest

from theodolite.config.loading import check_study

BOMBS = {
    "lists": "a: &a [x, x]\n"
    + "".join(f"b{n}: &b{n} [*b{n - 1}, *b{n - 1}]\n" for n in range(1, 40)).replace("*b0", "*a"),
    "mappings": "a: &m0 {k: v}\n" + "".join(f"m{n}: &m{n} {{p: *m{n - 1}, q: *m{n - 1}}}\n" for n in range(1, 40)),
    "merges": "a: &m0 {k: v}\n" + "".join(f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}\n" for n in range(1, 40)),
    "itself": "study: &s\n  again: *s\n",
    "deep lists": "study: " + "[" * 5000 + "]" * 5000,
    "deep mappings": "study: " + "{a: " * 900 + "x" + "}" * 900,
    "deep blocks": "".join("  " * n + "a:\n" for n in range(900)),
    "python object": "study: !!python/object/apply:os.system ['touch ran']\n",
    "python name": "study: !!python/name:os.system\n",
    "binary": "study: !!binary aGVsbG8=\n",
    "a zero byte": "study: a\0b\n",
    "many applications": "study: s\napplications:\n" + "".join(f"  a{n}: {{kind: model}}\n" for n in range(500)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_file_is_refused_with_a_message(name, tmp_path):
    (tmp_path / "study.yaml").write_text(BOMBS[name])

    faults = check_study(tmp_path, looks_at_code=True)

    assert faults
    assert all(fault.message for fault in faults)
    assert not (tmp_path / "ran").exists()


LURE = "from pathlib import Path\nPath(__file__).parent.joinpath('ran').touch()\n"


@pytest.mark.parametrize(
    ("target", "files"),
    [
        ("app.py:answer", ["app.py"]),
        ("bots.app:answer", ["bots/__init__.py", "bots/app.py"]),
        ("app.py:answer", ["app.py", "json.py", "numpy.py", "theodolite.py"]),
        ("app.py:answer", ["app.py", "sitecustomize.py", "usercustomize.py", "conftest.py"]),
        ("os:system", []),
        ("missing.module:answer", ["missing/__init__.py"]),
    ],
    ids=["file", "package", "shadowed modules", "start-up files", "shell", "missing module"],
)
def test_validation_runs_no_code(target, files, tmp_path):
    (tmp_path / "study.yaml").write_text(
        f'study: s\napplications: {{a: {{kind: python, call: "{target}"}}}}\n'
        "scenarios: {s: {scripts: {hello: ['touch ran']}}}\n"
    )
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(LURE + "def answer(prompt): ...\n")

    check_study(tmp_path, looks_at_code=True)

    assert not [*tmp_path.rglob("ran")]
