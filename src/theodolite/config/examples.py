"""Examples: shipped studies that can be laid out, run and taken apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from theodolite.config.shipped import shipped
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean

_BOT = "guarded-bot"
_PACKS = ("aria/tv-spoilers", "aria/meal-planner", "aria/pathfinder")

EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        _BOT: "one rule-based bot behind three guardrails, in ARIA's three scenarios; runs offline",
        **dict.fromkeys(_PACKS, "the same bot in this one scenario pack; runs offline"),
        "marketing": "marketing texts and reviews that are written, judged and compared; runs offline",
        "real-bots": "NLTK's ELIZA and a Haystack search over installed documents; needs two packages",
    }
)
"""Name to what it is, in one line."""

REQUIREMENTS = "requirements.txt"
"""File of an example that names the packages that it needs."""


def example_files(name: str) -> dict[str, str]:
    """Return the files of an example by name, the study file first.

    Raises:
        InputError: If there is no example of that name.
    """
    if name not in EXAMPLES:
        tail = did_you_mean(name, EXAMPLES) or f"; there are {', '.join(EXAMPLES)}"
        message = f"there is no example `{name}`{tail}"
        raise InputError(message)
    folder = shipped(f"examples/{_BOT if name in _PACKS else name}")
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.is_file()}
    files = {file: texts[file] for file in sorted(texts, key=lambda file: (file != "study.yaml", file))}
    return _with_one_pack(files, name) if name in _PACKS else files


def _with_one_pack(files: dict[str, str], pack: str) -> dict[str, str]:
    """Return the guarded bot's study on one of its packs."""
    study = re.sub(r"^pack: .*$", f"pack: {pack}", files["study.yaml"], flags=re.MULTILINE)
    named = re.sub(r"^study: .*$", f"study: {pack.rpartition('/')[2]}", study, flags=re.MULTILINE)
    about = "title: One bot, three guardrails, one scenario pack"
    return {
        "study.yaml": re.sub(r"^title: .*$", about, named, flags=re.MULTILINE),
        "guarded_bot.py": files["guarded_bot.py"],
    }
