"""The floor: bare aiohttp, no framework; one line of JSON a sample, nothing kept of a sample that is not finished.

python floor.py N C OUT
"""

from __future__ import annotations

import asyncio
import json
import random
import time

import aiohttp
from job import BASE, JUDGE, TARGET_SYSTEM, TURNS, arguments, report, transcript, user_system


class Floor:
    """The least that asking and writing down can cost."""

    def __init__(self, session: aiohttp.ClientSession, lines) -> None:
        self.session, self.lines, self.done = session, lines, 0

    async def chat(self, model: str, messages: list[dict[str, str]]) -> str:
        for attempt in range(12):
            async with self.session.post(
                BASE + "/chat/completions", json={"model": model, "messages": messages}
            ) as answer:
                if answer.status == 200:
                    return (await answer.json())["choices"][0]["message"]["content"]
                await answer.read()
                asked = answer.headers.get("retry-after")
            await asyncio.sleep(float(asked or min(0.5 * 2**attempt, 8) * random.random()))
        raise RuntimeError("gave up")

    async def sample(self, number: int) -> None:
        user = [{"role": "system", "content": user_system(number)}]
        target = [{"role": "system", "content": TARGET_SYSTEM}]
        turns: list[tuple[str, str]] = []
        for _ in range(TURNS):
            prompt = await self.chat("user-sim", user)
            target.append({"role": "user", "content": prompt})
            response = await self.chat("target", target)
            target.append({"role": "assistant", "content": response})
            user += [{"role": "assistant", "content": prompt}, {"role": "user", "content": response}]
            turns += [("user", prompt), ("assistant", response)]
        verdict = json.loads(await self.chat("judge", [{"role": "user", "content": JUDGE + transcript(turns)}]))
        self.lines.write(json.dumps({"id": number, "turns": turns, **verdict}) + "\n")
        self.lines.flush()
        self.done += 1


async def main() -> None:
    n, c, out = arguments()
    slots = asyncio.Semaphore(c)
    connector = aiohttp.TCPConnector(limit=c)
    with (out / "samples.jsonl").open("a") as lines:
        async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(60)) as session:
            floor = Floor(session, lines)

            async def one(number: int) -> None:
                async with slots:
                    await floor.sample(number)

            begun = time.perf_counter()
            await asyncio.gather(*(one(number) for number in range(n)))
            report(inner_s=time.perf_counter() - begun, completed=floor.done)


asyncio.run(main())
