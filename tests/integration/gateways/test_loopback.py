"""The loopback server follows its settings; other tests rely on that."""

import aiohttp
import pytest

from tests.fakes.loopback import Loopback, LoopbackProcess

pytestmark = pytest.mark.integration

BODY = {"model": "target", "messages": [{"role": "user", "content": "hi"}]}


async def post(url: str, body: dict[str, object]) -> int:
    async with aiohttp.ClientSession() as client, client.post(f"{url}/chat/completions", json=body) as answer:
        return answer.status


async def test_faults_occur_in_order_and_are_counted() -> None:
    with Loopback(faults=("429", "500")) as server:
        seen = [await post(server.url, BODY) for _ in range(3)]

    assert seen == [429, 500, 200]
    assert server.stats["by_role"] == {"target": 3}
    assert (server.stats["answered"], server.stats["duplicates"]) == (1, 2)


async def test_a_server_process_counts_by_role_and_can_be_reconfigured() -> None:
    with LoopbackProcess("--every", "2", "--fault", "503") as server:
        seen = [await post(server.url, BODY | {"model": "x-judge"}) for _ in range(2)]
        rows, stats = server.calls(), server.stats()
        server.turn(every=0)
        seen.append(await post(server.url, BODY))

    assert seen == [200, 503, 200]
    assert [row["fault"] for row in rows] == ["ok", "503"]
    assert stats["answered_by_role"] == {"judge": 1}
