"""Testers at once on one server with SQLite, each with a reply of 20 ms tokens: nothing lost, and how even the pieces come.

python benchmarks/bench_chat.py [TESTERS] [TURNS]        writes benchmarks/CHAT.md; 50 testers and 4 turns unless given

All send at the same moment, turn by turn, which is the worst that a room can do. The
testers are real streams over HTTP in a process of their own that does next to nothing:
it notes when bytes came and reads them afterwards. When the server handed the same
pieces to its sockets is noted within the server, so that one can tell whose delay it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

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
from theodolite.web.events import host_study
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


SERVE = """
import json, sys, time
from collections import defaultdict
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from theodolite.cli.main import main
sent, send = defaultdict(list), RequestResponseCycle.send

async def noted(self, message):
    if b"event: piece" in message.get("body", b""):
        sent[id(self), self.scope["path"]].append(time.monotonic())
    await send(self, message)

RequestResponseCycle.send = noted
try:
    main(["serve", sys.argv[1], "--listen", "127.0.0.1:0"])
finally:
    with open(sys.argv[2], "w") as file:
        json.dump(list(sent.values()), file)
"""


FLOOR = """
import asyncio

async def stream(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
    for number in range(%d):
        await asyncio.sleep(0.04)
        piece = b'event: piece\\nid: %%d\\ndata: "word word "\\n\\n' %% number
        writer.write(b"%%x\\r\\n%%s\\r\\n" %% (len(piece), piece))
        await writer.drain()
    writer.write(b"0\\r\\n\\r\\n")
    await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(stream, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
""" % (WORDS // 2)
"""A server that does nothing but send pieces every 40 ms: what this machine can do at this moment."""


@dataclass
class Measured:
    """What all testers saw together."""

    firsts_s: list[float] = field(default_factory=list)
    gaps_ms: list[float] = field(default_factory=list)
    sends_ms: list[float] = field(default_factory=list)
    pages_ms: list[float] = field(default_factory=list)
    whole: int = 0
    faults: list[str] = field(default_factory=list)


class Watching(asyncio.Protocol):
    """One reply as it arrives: bytes and moments, read only afterwards."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.came: list[tuple[float, bytes]] = []
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.came.append((time.monotonic(), data))
        if data.endswith(b"0\r\n\r\n"):
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.over.set_result(error)

    def pieces(self) -> list[tuple[float, str]]:
        """Return the moments at which pieces came, and the pieces."""
        found = []
        for moment, data in self.came:
            for words in re.findall(rb"event: piece\nid: \d+\ndata: (.*)\n", data):
                found.append((moment, json.loads(words)))
        return found


@dataclass
class Room:
    """What testers share."""

    base: str
    study: str
    n_turns: int
    seen: Measured
    together: asyncio.Barrier


def token_of(html: str) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html[html.index("<main") :]).group(1)


async def tester(room: Room, cookie: str, number: int) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    jar.update_cookies({"sessionid": cookie}, yarl.URL(room.base))
    patient = aiohttp.TCPConnector(keepalive_timeout=2)  # shorter than the server's, which closes what lies idle
    async with aiohttp.ClientSession(
        room.base, connector=patient, cookie_jar=jar, headers={"Referer": room.base}
    ) as web:
        where, html = await arrive(web, room.study)
        for turn in range(1, room.n_turns + 1):
            await room.together.wait()
            await say(room, web, where, token_of(html), turn, f"w{number}x{turn}", cookie)


async def arrive(web: aiohttp.ClientSession, study: str) -> tuple[str, str]:
    """Go through consent, profile and instructions; return the address of the chat, and its page."""
    while True:
        async with web.get(f"/s/{study}/test/") as answer:
            html, where = await answer.text(), answer.url.path
        if re.search(r"/test/1/$", where):
            return where, html
        boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', html))
        version = re.search(r'name="version" value="(\w+)"', html)
        form = {"csrfmiddlewaretoken": token_of(html), **boxes, "skip": "yes"}
        async with web.post(where, data=form | ({"version": version.group(1)} if version else {})) as answer:
            await answer.text()


async def say(
    room: Room, web: aiohttp.ClientSession, where: str, token: str, turn: int, prompt: str, cookie: str
) -> None:
    form, sent = {"csrfmiddlewaretoken": token, "number": str(turn), "text": prompt}, time.monotonic()
    async with web.post(f"{where}1/say/", data=form, headers={"X-Part": "turn"}) as answer:
        text = await answer.text()
    if answer.status != 200:
        room.seen.faults.append(f"{answer.status} {text[:200]}")
        return
    room.seen.sends_ms.append(1000 * (time.monotonic() - sent))
    watching = await watched(room.base, re.search(r'data-stream="([^"]+)"', text).group(1), cookie)
    pieces = watching.pieces()
    heard = "".join(piece for _, piece in pieces)
    expected = "".join(f"{prompt}-{number} " for number in range(WORDS))
    room.seen.firsts_s.append(pieces[0][0] - sent)
    room.seen.gaps_ms.extend(1000 * (later - sooner) for (sooner, _), (later, _) in pairwise(pieces))
    room.seen.whole += heard == expected
    if heard != expected:
        room.seen.faults.append(f"{prompt}: {len(heard)} of {len(expected)} letters")


async def watched(base: str, stream: str, cookie: str) -> Watching:
    at = urlsplit(base)
    request = f"GET {stream} HTTP/1.1\r\nHost: {at.netloc}\r\nCookie: sessionid={cookie}\r\n\r\n".encode()
    _, watching = await asyncio.get_running_loop().create_connection(lambda: Watching(request), at.hostname, at.port)
    await watching.over
    return watching


async def floor_gaps_ms(n: int) -> list[float]:
    """Return the time between two pieces of n streams at once from a server that does nothing else; milliseconds."""
    server = subprocess.Popen([sys.executable, "-c", FLOOR], stdout=subprocess.PIPE, text=True)
    base = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    try:
        streams = await asyncio.gather(*(watched(base, "/", "") for _ in range(n)))
    finally:
        server.kill()
        server.wait()
    return [1000 * (later - sooner) for stream in streams for (sooner, _), (later, _) in pairwise(stream.pieces())]


async def looking(room: Room, cookie: str) -> None:
    """Load the page of one tester twice a second, as somebody who comes back does."""
    async with aiohttp.ClientSession(
        room.base, cookies={"sessionid": cookie}, cookie_jar=aiohttp.CookieJar(unsafe=True)
    ) as web:
        while True:
            await asyncio.sleep(0.5)
            began = time.monotonic()
            async with web.get(f"/s/{room.study}/test/1/") as answer:
                await answer.text()
            room.seen.pages_ms.append(1000 * (time.monotonic() - began))


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
    room = Room(base, study, n_turns, Measured(), asyncio.Barrier(len(cookies)))
    visitor = asyncio.create_task(looking(room, cookies[0]))
    await asyncio.gather(*(tester(room, cookie, at) for at, cookie in enumerate(cookies)))
    visitor.cancel()
    return room.seen


def span(values: list[float], unit: str, *, digits: int = 0) -> str:
    """Return median, 95 % and 99 % in words."""
    half, most, nearly_all = (f"{quantile(values, share):.{digits}f} {unit}" for share in (0.5, 0.95, 0.99))
    return f"median {half}, 95 % within {most}, 99 % within {nearly_all}"


def ratios(values: list[float], floor: list[float]) -> str:
    """Return the ratios of median, 95 % and 99 % in words."""
    half, most, nearly_all = (quantile(values, share) / quantile(floor, share) for share in (0.5, 0.95, 0.99))
    return f"median {half:.2f}, 95 % {most:.2f}, 99 % {nearly_all:.2f}"


def seeded(folder: Path, n: int) -> list[str]:
    """Write a study, host it and sign testers in; return the study's token, and a cookie each."""
    (folder / ".theodolite").mkdir()
    for name, text in (("study.yaml", STUDY), ("app.py", APP), ("consent.md", "You say words.")):
        (folder / name).write_text(text)
    words = [sys.executable, "-c", SEED, str(folder), str(n)]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def cpu_s(process: int) -> float:
    """Return the processor time that a process has used so far; seconds."""
    words = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    n, n_turns = (int(word) for word in (sys.argv[1:] + ["50", "4"][len(sys.argv) - 1 :])[:2])
    with tempfile.TemporaryDirectory() as temporary:
        folder, noted = Path(temporary), Path(temporary) / "sent.json"
        study, *cookies = seeded(folder, n)
        command = [sys.executable, "-c", SERVE, str(folder), str(noted)]
        server = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "THEODOLITE_ALLOW_CODE": "1"},
        )
        base = re.search(r"http://[\d.:]+", server.stdout.readline()).group()
        floor_ms = asyncio.run(floor_gaps_ms(n))
        before_s, began, load = cpu_s(server.pid), time.monotonic(), os.getloadavg()[0]
        seen = asyncio.run(race(base, study, cookies, n_turns))
        took_s, server_s = time.monotonic() - began, cpu_s(server.pid) - before_s
        own = resource.getrusage(resource.RUSAGE_SELF)
        server.send_signal(signal.SIGINT)  # ends as by Ctrl+C, so that what was noted is written
        server.wait()
        memory_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        sent = json.loads(noted.read_text())
        n_rows, n_whole = stored(folder, n, n_turns)
    left_ms = [1000 * (later - sooner) for moments in sent for sooner, later in pairwise(moments)]
    page = f"""# Testers at once

Written by `python benchmarks/bench_chat.py {n} {n_turns}`; one run on one machine, which plays the testers and the server.

{date.today():%d %b %Y}. {n} testers at once on one server with SQLite, {n_turns} turns each; both applications give {WORDS} tokens, one every 20 ms.
All {n} send at the same moment, turn by turn, and all replies then stream at once.
Others kept the machine's {os.cpu_count()} cores busy with a load of {load:.1f} when it began.

| | |
|---|---|
| turns that were sent | {n * n_turns} |
| turns in the database | {n_rows} |
| of these complete, word for word | {n_whole} |
| replies that testers saw whole | {seen.whole} |
| faults that testers saw | {len(seen.faults)} |
| between two pieces of a reply, as testers got them | {span(seen.gaps_ms, "ms")}, of {len(seen.gaps_ms):,} |
| the same, as the server handed them to its sockets | {span(left_ms, "ms")}, of {len(left_ms):,} |
| the same from a server that only sends pieces, before this run | {span(floor_ms, "ms")}, of {len(floor_ms):,} |
| ratio to that server | {ratios(seen.gaps_ms, floor_ms)} |
| until a message is stored and shown | {span(seen.sends_ms, "ms")} |
| from sending to the first word (at least 1.2 s by design) | {span(seen.firsts_s, "s", digits=2)} |
| until the whole page is loaded anew, meanwhile | {span(seen.pages_ms, "ms")}, of {len(seen.pages_ms)} |
| server's CPU | {server_s:.0f} s in {took_s:.0f} s |
| testers' CPU, which takes from the same cores | {own.ru_utime + own.ru_stime:.0f} s |
| server's memory at most | {memory_mib:.0f} MiB |
"""
    (HERE / "CHAT.md").write_text(page)
    print(page)
    print(*seen.faults[:5], sep="\n")


if __name__ == "__main__":
    main()
