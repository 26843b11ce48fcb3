"""Label Studio's tasks as dialogues: those that its Paragraphs and Chat tags show.

Source: https://labelstud.io/tags/paragraphs and https://labelstud.io/tags/chat.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from theodolite.config.brought.remarks import Remark, Remarks, scalars
from theodolite.config.diagnostics import LocatedDiagnostic, few_of
from theodolite.config.tables import decoded

_SPEAKERS = ("role", "author", "speaker", "name", "from")
_WORDS = ("content", "text", "message", "value")
_NAMES = ("item", "dialogue_id", "conversation_id", "id")
_OURS = re.compile(r"^(User|Reply) \d+$")
"""How our own export names the sides of a turn."""


def is_tasks(file: str) -> bool:
    """Whether a file is named as Label Studio names its exports."""
    return file.lower().endswith(".json")


def read_tasks(stored: bytes, file: str) -> Remarks:
    """Return the dialogues of a task file; what is wrong with it stands in `faults`, all at once.

    Nobody is known by the names in it, so that the field of a tester, if there is one, is among what is told.
    A task's dialogue is the field of its `data` that holds a list of objects with a speaker
    (`role`, `author`) and words (`content`, `text`). The task's place in the file, from 1,
    stands for the line. The other fields of `data` are told of the conversation.

    Args:
        stored: The bytes of the JSON file.
        file: Its name, as people are shown it.
    """
    sha256 = hashlib.sha256(stored).hexdigest()
    try:
        tasks = json.loads(decoded(stored)[0])
    except (ValueError, RecursionError) as error:
        return _broken(file, f"is no JSON: {error}", sha256)
    if not isinstance(tasks, list) or not tasks or not all(isinstance(task, dict) for task in tasks):
        return _broken(file, "should hold a list of tasks, as Label Studio exports them in the format JSON", sha256)
    remarks: list[Remark] = []
    about: dict[str, dict[str, str]] = {}
    faults: list[LocatedDiagnostic] = []
    for line, task in enumerate(tasks, 1):
        data = task.get("data", task)
        name, said = _dialogue(data if isinstance(data, dict) else {})
        if not said:
            faults.append(LocatedDiagnostic(file=file, line=line, message=_NO_DIALOGUE))
            continue
        key = _key(task, data, line)
        if key in about:
            message = f"is about `{key}`, as a task before it; give each its own `item`"
            faults.append(LocatedDiagnostic(file=file, line=line, message=message))
            continue
        about[key] = {each: text for each, text in scalars(data).items() if each != name}
        remarks += _remarks(key, said, line)
    return Remarks(file=file, remarks=tuple(remarks), about=about, faults=few_of(faults, file), sha256=sha256)


_NO_DIALOGUE = (
    "has no dialogue in its `data`; expected a list of objects with `role` and `content`, or `author` and `text`"
)


def _broken(file: str, message: str, sha256: str) -> Remarks:
    return Remarks(file=file, faults=(LocatedDiagnostic(file=file, message=message),), sha256=sha256)


def _key(task: Mapping[str, Any], data: Mapping[str, Any], line: int) -> str:
    named = [data.get(name) for name in _NAMES] + [task.get("id")]
    return str(next((name for name in named if name not in {None, ""}), f"task-{line}"))


def _dialogue(data: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return name and entries of the field that holds a dialogue; an empty name where none does."""
    for name, value in data.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            keys = set(value[0])
            if keys & set(_SPEAKERS) and keys & set(_WORDS):
                return name, value
    return "", ()


def _remarks(key: str, said: Sequence[Mapping[str, Any]], line: int) -> list[Remark]:
    found: list[Remark] = []
    for number, entry in enumerate(said, 1):
        told = scalars({name: value for name, value in entry.items() if name not in _WORDS})
        told = {name: _OURS.sub(r"\1", value) for name, value in told.items()}
        words = next((entry[name] for name in _WORDS if entry.get(name) is not None), "")
        found.append(
            Remark(
                key=f"{key}#{number}",
                conversation=key,
                speaker="",
                text=words.strip() if isinstance(words, str) else json.dumps(words, ensure_ascii=False),
                line=line,
                answers=f"{key}#{number - 1}" if number > 1 else "",
                at=float(number),
                told=told,
            )
        )
    return found
