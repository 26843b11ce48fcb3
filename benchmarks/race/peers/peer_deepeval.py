"""deepeval: ConversationSimulator (all conversations first), then evaluate() with one ConversationalGEval metric.
python peer_deepeval.py N C OUTDIR"""

import os, sys, time, json
from job import *

os.environ.update(
    DEEPEVAL_TELEMETRY_OPT_OUT="1",
    DEEPEVAL_NO_INSPECT_PROMPT="1",
    DEEPEVAL_DISABLE_DOTENV="1",
    DEEPEVAL_UPDATE_WARNING_OPT_IN="0",
)
os.environ.setdefault("DEEPEVAL_RETRY_MAX_ATTEMPTS", "10")
n, c, out = arguments()
out = str(out)
out = os.path.abspath(out)
os.chdir(out)  # deepeval keeps .deepeval/ in the working directory
import openai
from deepeval import evaluate
from deepeval.dataset import ConversationalGolden
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import ConversationalGEval
from deepeval.models import LocalModel
from deepeval.simulator import ConversationSimulator
from deepeval.test_case import MultiTurnParams, Turn


def model(name):
    return LocalModel(model=name, api_key="x", base_url=BASE)


client = openai.AsyncOpenAI(base_url=BASE, api_key="x", max_retries=10)


async def target(input, turns):
    msgs = [{"role": "system", "content": TARGET_SYSTEM}] + [{"role": t.role, "content": t.content} for t in turns]
    r = await client.chat.completions.create(model="target", messages=msgs)
    return Turn(role="assistant", content=r.choices[0].message.content)


t0 = time.perf_counter()
sim = ConversationSimulator(model_callback=target, simulator_model=model("user-sim-deepeval"), max_concurrent=c)
cases = sim.simulate(
    [ConversationalGolden(scenario=scenario(i), name=f"c{i}", user_description="A customer.") for i in range(n)],
    max_user_simulations=TURNS,
)
t1 = time.perf_counter()
metric = ConversationalGEval(
    name="help",
    evaluation_params=[MultiTurnParams.CONTENT, MultiTurnParams.ROLE],
    evaluation_steps=["Does the assistant answer the customer?"],
    model=model("judge"),
)
res = evaluate(
    cases,
    [metric],
    async_config=AsyncConfig(max_concurrent=c),
    cache_config=CacheConfig(write_cache=bool(os.environ.get("WRITE_CACHE", "1") == "1"), use_cache=False),
    error_config=ErrorConfig(ignore_errors=True),
    display_config=DisplayConfig(
        print_results=False,
        show_indicator=bool(os.environ.get("INDICATOR")),
        inspect_after_run=False,
        results_folder=out,
    ),
)
t2 = time.perf_counter()
ok = sum(1 for r in res.test_results if r.metrics_data and r.metrics_data[0].score is not None)
report(inner_s=t2 - t0, completed=len(cases), scored=ok, simulate_s=round(t1 - t0, 3), evaluate_s=round(t2 - t1, 3))
