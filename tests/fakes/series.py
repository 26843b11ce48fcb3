"""A series of annotation on disk, for a real server: `python -m tests.fakes.series FOLDER` makes one and tells who.

Made in a process of its own, since a browser's event loop keeps a store from working in the tests' process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

PEOPLE = {"anna": "annotator", "ben": "annotator", "cara": "annotator", "sami": "senior annotator"}
"""Who takes part, and as what."""


def made(folder: Path, passes: int = 2) -> dict[str, Any]:
    """Make a series in a folder and return the study's token, cookies by person and the cookie's name.

    Args:
        folder: Where.
        passes: Different annotators for each dialogue and category; count.
    """
    return _called("make", folder, str(passes))


def expired(folder: Path) -> None:
    """Let the time of all reservations be over."""
    _called("expire", folder)


def _called(act: str, folder: Path, *more: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fakes.series", act, str(folder), *more],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _main(act: str, folder: Path, passes: int = 2) -> None:
    from theodolite.bootstrap.database import workspace_for
    from theodolite.bootstrap.serving import Serving, open_server
    from theodolite.config.serving import ServingSettings

    open_server(Serving(workspace=workspace_for(folder), settings=ServingSettings()))
    sys.stdout.write(json.dumps(_make(passes) if act == "make" else _expire()))


def _expire() -> dict[str, Any]:
    from datetime import timedelta

    from theodolite.store.models.annotating import ReservationRow

    for row in ReservationRow.objects.filter(state="reserved"):
        row.until -= timedelta(days=1)
        row.save()
    return {}


def _make(passes: int) -> dict[str, Any]:
    from theodolite.store.annotating.queues import add_dialogues, open_queue
    from theodolite.web.annotator.desk import library
    from theodolite.web.annotator.seeding import design_of, invented_study, keep_dialogues
    from theodolite.web.models import HostedStudy

    hosted = HostedStudy.objects.create(name="series", title="Orrery Bay", state=HostedStudy.State.OPEN)
    study = invented_study()
    keys, design = keep_dialogues(study), design_of(study)
    process = replace(design.process, passes=passes, pass_mark=0.8, quality_check=1.0)
    queue = open_queue(library(), hosted.token, study, replace(design, process=process), by="test")
    add_dialogues(library(), queue, keys[:2])
    cookies = {name: _cookie(name, role, hosted) for name, role in PEOPLE.items()}
    _clear(library(), queue, passes)
    return {"study": hosted.token, "cookies": cookies}


def _cookie(name: str, role: str, hosted: Any) -> dict[str, str]:
    from django.test import Client

    from theodolite.web.models import Account, Membership

    account = Account.objects.create_user(name=name)
    Membership.objects.create(account=account, hosted=hosted, role=role, participant=name)
    client = Client(SERVER_NAME="localhost")
    client.force_login(account)
    return {morsel.key: morsel.value for morsel in client.cookies.values()}


def _clear(library: Any, queue: str, passes: int) -> None:
    """Let Ben and Cara in; Anna goes the whole way; of two passes, Ben's first category is left to a senior."""
    from theodolite.store.annotating.training import admit
    from theodolite.web.annotator.seeding import let_begin

    for name in ("ben", "cara"):
        let_begin(queue, name)
        for category in ("risk_assessment", "dialogue_utility", "interaction_style"):
            if passes == 1 or (name, category) != ("ben", "risk_assessment"):
                admit(library, queue, name, category, by="sami", reason="trained before")


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
