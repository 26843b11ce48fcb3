"""Testers at once on one server with SQLite, each with a reply of 20 ms tokens: nothing lost, and how even the pieces come.

python benchmarks/bench_chat.py [TESTERS] [TURNS]        writes benchmarks/CHAT.md; 50 testers and 4 turns unless given
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import aiohttp
import yarl

HERE = Path(__file__).parent
WORDS = 150
STUDY = """study: chatter
applications:
  one: {kind: python, call: "app.py:say", parallel: 500}
  two: {kind: python, call: "app.py:say", parallel: 500}
scenarios:
  talk: {task: chat, goal: Talk., turns: 100, instructions: {red_teaming: Talk.}}
levels:
  red_teaming: {people: 500, sessions: 1}
guidelines:
  polite: {ask: "Was it polite?", scale: [yes, no], defect: "== no"}
consent: consent.md
contact: nobody@example.invalid
"""
APP = (
    """import asyncio


async def say(prompt):
    for number in range(%d):
        await asyncio.sleep(0.02)
        yield f"{prompt}-{number} "
"""
    % WORDS
)
SEED = """
import sys
from pathlib import Path
from theodolite.bootstrap.serving import Serving, open_server
from theodolite.config.serving import load_serving
folder, n = Path(sys.argv[1]), int(sys.argv[2])
open_server(Serving(workspace=folder / ".theodolite", settings=load_serving({}, folder=folder)))
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from theodolite.web.hosting import host_study
from theodolite.web.models import Account, HostedStudy, Membership
host = Account.objects.create_user("host@example.invalid", is_host=True)
hosted = host_study(str(folder), host)
HostedStudy.objects.update(state="open")
print(hosted.token)
for number in range(n):
    account = Account.objects.create_user(f"t{number}@example.invalid")
    Membership.objects.create(account=account, hosted=hosted, role="red teamer")
    session = SessionStore()
    session[SESSION_KEY] = str(account.pk)
    session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
    session[HASH_SESSION_KEY] = account.get_session_auth_hash()
    session.create()
    print(session.session_key)
"""


@dataclass
class Measured:
    """What all testers saw together."""

    firsts_s: list[float] = field(default_factory=list)
    gaps_ms: list[float] = field(default_factory=list)
    sends_ms: list[float] = field(default_factory=list)
    whole: int = 0
    faults: list[str] = field(default_factory=list)


def token_of(html: str) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html[html.index("<main") :]).group(1)


async def tester(base: str, study: str, cookie: str, number: int, n_turns: int, seen: Measured) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    jar.update_cookies({"sessionid": cookie}, yarl.URL(base))
    async with aiohttp.ClientSession(base, cookie_jar=jar, headers={"Referer": base}) as web:
        address = f"/s/{study}/test/"
        while True:
            async with web.get(address) as answer:
                html, where = await answer.text(), answer.url.path
            if re.search(r"/test/1/$", where):
                break
            boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', html))
            version = re.search(r'name="version" value="(\w+)"', html)
            form = {"csrfmiddlewaretoken": token_of(html), **boxes, "skip": "yes"}
            async with web.post(where, data=form | ({"version": version.group(1)} if version else {})) as answer:
                await answer.text()
        for turn in range(1, n_turns + 1):
            prompt = f"w{number}x{turn}"
            form = {"csrfmiddlewaretoken": token_of(html), "number": str(turn), "text": prompt}
            sent = time.monotonic()
            async with web.post(f"{where}1/say/", data=form, headers={"X-Part": "turn"}) as answer:
                text = await answer.text()
                if answer.status != 200:
                    seen.faults.append(f"{answer.status} {text[:200]}")
                    return
            seen.sends_ms.append(1000 * (time.monotonic() - sent))
            await watch(web, re.search(r'data-stream="([^"]+)"', text).group(1), prompt, sent, seen)


async def watch(web: aiohttp.ClientSession, stream: str, prompt: str, sent: float, seen: Measured) -> None:
    heard, last = "", None
    async with web.get(stream, timeout=aiohttp.ClientTimeout(total=None)) as answer:
        event = ""
        async for raw in answer.content:
            line = raw.decode().rstrip("\n")
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: ") and event == "piece":
                now = time.monotonic()
                if last is None:
                    seen.firsts_s.append(now - sent)
                else:
                    seen.gaps_ms.append(1000 * (now - last))
                last, heard = now, heard + json.loads(line[6:])
            elif line.startswith("data: ") and event == "end":
                break
    expected = "".join(f"{prompt}-{number} " for number in range(WORDS))
    seen.whole += heard == expected
    if heard != expected:
        seen.faults.append(f"{prompt}: {len(heard)} of {len(expected)} letters")


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


def stored(folder: Path, n: int, n_turns: int) -> tuple[int, int]:
    """Return turns in the database, and those that are complete with their whole text."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(folder / ".theodolite" / "theodolite.db")) as database:
        table = next(
            name
            for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE name LIKE '%live_turn%' AND type='table'"
            )
        )
        rows = database.execute(f"SELECT prompt, response, state FROM {table}").fetchall()
    whole = sum(
        state == "complete" and response == "".join(f"{prompt}-{number} " for number in range(WORDS))
        for prompt, response, state in rows
    )
    return len(rows), whole


async def race(base: str, study: str, cookies: list[str], n_turns: int) -> Measured:
    seen = Measured()
    await asyncio.gather(*(tester(base, study, cookie, at, n_turns, seen) for at, cookie in enumerate(cookies)))
    return seen


def main() -> None:
    n, n_turns = (int(word) for word in (sys.argv[1:] + ["50", "4"][len(sys.argv) - 1 :])[:2])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / ".theodolite").mkdir()
        for name, text in (("study.yaml", STUDY), ("app.py", APP), ("consent.md", "You say words.")):
            (folder / name).write_text(text)
        seeded = subprocess.run(
            [sys.executable, "-c", SEED, str(folder), str(n)], check=True, stdout=subprocess.PIPE, text=True
        )
        study, *cookies = seeded.stdout.split()
        command = [sys.executable, "-m", "theodolite", "serve", str(folder), "--listen", "127.0.0.1:0"]
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        base = re.search(r"http://[\d.:]+", server.stdout.readline()).group()
        began, load = time.monotonic(), os.getloadavg()[0]
        seen = asyncio.run(race(base, study, cookies, n_turns))
        took_s = time.monotonic() - began
        server.terminate()
        server.wait()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        n_rows, n_whole = stored(folder, n, n_turns)
    page = f"""# Testers at once

Written by `python benchmarks/bench_chat.py {n} {n_turns}`; one run on one machine, which plays the testers and the server.

{date.today():%d %b %Y}. {n} testers at once on one server with SQLite, {n_turns} turns each; both applications give {WORDS} tokens, one every 20 ms.
Others kept the machine's {os.cpu_count()} cores busy with a load of {load:.1f} when it began.

| | |
|---|---|
| turns that were sent | {n * n_turns} |
| turns in the database | {n_rows} |
| of these complete, word for word | {n_whole} |
| replies that testers saw whole | {seen.whole} |
| faults that testers saw | {len(seen.faults)} |
| between two pieces of a reply | median {quantile(seen.gaps_ms, 0.5):.0f} ms, 95 % within {quantile(seen.gaps_ms, 0.95):.0f} ms, 99 % within {quantile(seen.gaps_ms, 0.99):.0f} ms, of {len(seen.gaps_ms):,} |
| from sending to the first word (at least 1.2 s by design) | median {quantile(seen.firsts_s, 0.5):.2f} s, 95 % within {quantile(seen.firsts_s, 0.95):.2f} s |
| until a message is stored and shown | median {quantile(seen.sends_ms, 0.5):.0f} ms, 95 % within {quantile(seen.sends_ms, 0.95):.0f} ms |
| server's CPU, seeding included | {usage.ru_utime + usage.ru_stime:.0f} s in {took_s:.0f} s |
| server's memory at most | {usage.ru_maxrss / 1024:.0f} MiB |
"""
    (HERE / "CHAT.md").write_text(page)
    print(page)
    print(*seen.faults[:5], sep="\n")


if __name__ == "__main__":
    main()
