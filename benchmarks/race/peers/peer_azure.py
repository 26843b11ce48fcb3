"""azure-ai-evaluation: Simulator (one call per conversation, so that each has its own persona), then evaluate() with CoherenceEvaluator.
python peer_azure.py N C OUTDIR
The batch form Simulator(conversation_turns=[...]) takes no persona per conversation; api_call_delay_sec (default 1 s per target call) is set to 0."""

import asyncio, json, os, sys, time, logging
from job import *

n, c, out = arguments()
out = str(out)
os.environ.update(PF_WORKER_COUNT=str(c), PF_BATCH_TIMEOUT_SEC="3600")
import openai
from azure.ai.evaluation import CoherenceEvaluator, evaluate
from azure.ai.evaluation.simulator import Simulator

client = openai.AsyncOpenAI(base_url=BASE, api_key="x", max_retries=10)


def cfg(model):
    return {"type": "openai", "api_key": "x", "model": model, "base_url": BASE}


async def target(messages, stream=False, session_state=None, context=None):
    ms = messages["messages"] if isinstance(messages, dict) else messages
    body = [{"role": "system", "content": TARGET_SYSTEM}] + [{"role": m["role"], "content": m["content"]} for m in ms]
    r = await client.chat.completions.create(model="target", messages=body)
    return {
        "messages": ms + [{"role": "assistant", "content": r.choices[0].message.content}],
        "stream": stream,
        "session_state": session_state,
        "context": context,
    }


class FixedSimulator(Simulator):
    # 1.18.10: AsyncPrompty returns {"llm_output": ...} and Simulator reads ["content"] from it, so the stock class fails on every conversation with KeyError('content')
    def _parse_prompty_response(self, *, response):
        return super()._parse_prompty_response(
            response=response["llm_output"] if isinstance(response, dict) and "llm_output" in response else response
        )


async def simulate():
    sem = asyncio.Semaphore(c)

    async def one(i):
        async with sem:
            return (
                await FixedSimulator(cfg("user-sim-azure"))(
                    target=target,
                    max_conversation_turns=TURNS,
                    conversation_turns=[[]],
                    api_call_delay_sec=0,
                    concurrent_async_tasks=1,
                    user_simulator_prompty_options={"action": user_system(i)},
                )
            )[0]

    return await asyncio.gather(*(one(i) for i in range(n)), return_exceptions=True)


t0 = time.perf_counter()
convs = asyncio.run(simulate())
lost = [x for x in convs if isinstance(x, BaseException)]
t1 = time.perf_counter()
if lost:
    print("LOST", len(lost), repr(lost[0])[:500], repr(lost[0].__cause__)[:500], flush=True)
data = os.path.join(out, "conversations.jsonl")
with open(data, "w") as f:
    for i, x in enumerate(convs):
        if not isinstance(x, BaseException):
            f.write(
                json.dumps(
                    {"query": scenario(i), "response": transcript([(m["role"], m["content"]) for m in x["messages"]])}
                )
                + "\n"
            )
res = evaluate(
    data=data,
    evaluators={"coherence": CoherenceEvaluator(model_config=cfg("judge"))},
    output_path=os.path.join(out, "results.json"),
    fail_on_evaluator_errors=False,
)
t2 = time.perf_counter()
ok = sum(
    1
    for r in res["rows"]
    if isinstance(r.get("outputs.coherence.coherence"), (int, float))
    and r["outputs.coherence.coherence"] == r["outputs.coherence.coherence"]
)
report(
    inner_s=t2 - t0,
    completed=n - len(lost),
    scored=ok,
    simulate_s=round(t1 - t0, 3),
    evaluate_s=round(t2 - t1, 3),
    first_error=repr(lost[0])[:200] if lost else None,
)
