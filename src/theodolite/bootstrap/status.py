"""The onlooker: sees where a run stands, and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store_to_read
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import load_study
from theodolite.config.study_files import workspace_for
from theodolite.domain.errors import NotFound
from theodolite.domain.status import Status
from theodolite.usecases.status import status_of


def look_at(path: str, *, environ: Mapping[str, str] | None = None) -> Status:
    """Return where the latest run of a study stands.

    Args:
        path: A folder with a study file, or the file.
        environ: Environment variables; those of the process where left out.

    Raises:
        StudyError: If the study holds faults; says all of them.
        NotFound: If it was never run here.
        StoreError: If the database cannot be used.
    """
    variables = os.environ if environ is None else environ
    loaded = load_study(Path(path), resolver=resource_resolver())
    never = f"study `{loaded.study.name}` has not been run here yet. Run it:  theodolite run {path}"
    store = open_store_to_read(workspace_for(loaded.folder), variables.get(DATABASE_VARIABLE))
    if store is None:
        raise NotFound(never)
    try:
        return status_of(store, loaded.study.name, SystemClock().now())
    except NotFound as error:
        raise NotFound(never) from error
    finally:
        store.disconnect()
