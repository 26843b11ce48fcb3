"""A worker process that leases or writes units until its share is complete or it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.contract.given import an_entry
from theodolite.bootstrap.database import open_store
from theodolite.domain.run import UnitKind

if __name__ == "__main__":
    task, owner, workspace, url = sys.argv[1:5]
    store = open_store(Path(workspace), url or None)
    run = store.latest_run("support")

    def claim_all() -> None:
        """Lease a few units at a time until none is left; print them and wait for the signal to exit."""
        while units := store.claim(run, UnitKind.SESSION, owner=owner, limit=3, lease_s=60):
            print(*(unit.key for unit in units), flush=True)  # noqa: T201  # how it reports
        print("end", flush=True)  # noqa: T201
        sys.stdin.read()

    async def write_for_ever() -> None:
        """Lease one unit and write replies until the process is ended; print the acknowledged ones."""
        await store.start()
        (unit,) = store.claim(run, UnitKind.SESSION, owner=owner, limit=1, lease_s=600)
        for position in range(1_000_000):
            await store.append(unit.key, an_entry(position))
            await asyncio.sleep(0.005)  # nobody writes without a pause; a loop would starve others of SQLite's lock
            print(position, flush=True)  # noqa: T201  # how it reports

    if task == "claim":
        claim_all()
    else:
        asyncio.run(write_for_ever())
