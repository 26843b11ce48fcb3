"""A small study of a support bot, on disk, whose models a loopback server plays."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODEL_BOT = "bot: {kind: model, model: app}"
HTTP_BOT = (
    'bot: {{kind: http, url: "{root}/app", body: {{q: "{{{{ prompt }}}}", sid: "{{{{ session }}}}"}}, reply: $.text}}'
)

_TEXT = """\
study: support
title: {title}
models:
  app:   {{url: {url}, name: target, attempts: 1}}
  user:  {{url: {url}, name: user-sim, attempts: 1}}
  large: {{url: {url}, name: judge, attempts: 1{more}}}
applications:
  {bot}
scenarios:
  returns: {{task: chat, goal: "Find out {{{{ wish }}}}", turns: 1}}
personas:
  customers: {{template: customer, rows: customers.csv, model: user}}
judges:
  useful: {{ask: "{ask}", scale: 1-5, defect: "<= 2", model: large}}
{rest}
"""


@dataclass(slots=True, kw_only=True)
class SupportStudy:
    """The study's files; write them again after a change.

    Attributes:
        folder: Where they are.
        url: Base address of the models.
        bot: The application's entry.
        n: Personas; count.
        title: Title of the study.
        ask: The judge's question.
        more: What else is said about the judge's model.
        rest: What else the study says, e.g. a budget.
    """

    folder: Path
    url: str
    bot: str = MODEL_BOT
    n: int = 10
    title: str = "A support bot"
    ask: str = "How useful are the replies?"
    more: str = ""
    rest: str = ""

    def write(self, **changes: Any) -> Path:
        """Write the files, after some changes, and return the folder."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.folder.mkdir(exist_ok=True)
        fields = {name: getattr(self, name) for name in ("url", "bot", "title", "ask", "more", "rest")}
        (self.folder / "study.yaml").write_text(_TEXT.format(**fields), encoding="utf-8")
        rows = "".join(f"Customer {n},whether item {n} can go back\n" for n in range(1, self.n + 1))
        (self.folder / "customers.csv").write_text("name,wish\n" + rows, encoding="utf-8")
        return self.folder

    @property
    def results(self) -> dict[str, Any]:
        """What results.json holds."""
        found: dict[str, Any] = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        return found

    def rate(self) -> dict[str, Any]:
        """The only defect rate of results.json."""
        [rate] = [entry for entry in self.results["estimates"] if entry["measure"] == "defect_rate"]
        return dict(rate)

    def rows(self, table: str) -> int:
        """Count the rows of a table of the workspace's database."""
        database = self.folder / ".theodolite" / "theodolite.db"
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as open_database:
            counted: int = open_database.execute(f"SELECT count(*) FROM store_{table}").fetchone()[0]  # noqa: S608
        return counted
