"""inspect_ai: a custom multi-turn solver + model_graded_qa(include_history).   python peer_inspect.py N C OUTDIR [norealtime|nolog|retry]"""

import os, sys, time
from job import *

os.environ.update(BENCH_API_KEY="x", BENCH_BASE_URL=BASE)
os.environ.setdefault("INSPECT_LOG_LEVEL", "warning")
from inspect_ai import Task, eval, eval_retry, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver
from inspect_ai.log import list_eval_logs, read_eval_log


@solver
def simulate(turns: int = TURNS):
    async def solve(state, generate):
        user = get_model(role="user")
        state.messages = [ChatMessageSystem(content=TARGET_SYSTEM)]
        hist = [ChatMessageSystem(content=user_system(int(state.sample_id)))]
        for _ in range(turns):
            u = (await user.generate(hist)).completion
            state.messages.append(ChatMessageUser(content=u))
            state = await generate(state)
            hist += [ChatMessageAssistant(content=u), ChatMessageUser(content=state.output.completion)]
        return state

    return solve


@task
def context(n: int):
    return Task(
        dataset=MemoryDataset(
            [Sample(id=i, input=scenario(i), target="The customer gets an answer.") for i in range(n)]
        ),
        solver=simulate(),
        scorer=model_graded_qa(
            template=JUDGE.replace("{", "{{").replace("}", "}}") + "{question}\n{answer}\n{criterion}\n{instructions}",
            instructions="Reply with JSON.",
            include_history=True,
            grade_pattern=r'"score":\s*(\d)',
            model_role="grader",
        ),
    )


if __name__ == "__main__":  # eval_retry imports this file again
    n, c, out = arguments()
    out = str(out)
    mode = sys.argv[4] if len(sys.argv) > 4 else ""
    roles = {"user": get_model("openai-api/bench/user-sim"), "grader": get_model("openai-api/bench/judge")}
    kw = dict(
        max_connections=c,
        max_samples=c,
        log_dir=out,
        display=os.environ.get("DISPLAY_MODE", "none"),
        log_level="warning",
        fail_on_error=False,
    )
    if os.environ.get("LOG_BUFFER"):
        kw["log_buffer"] = int(os.environ["LOG_BUFFER"])
    t0 = time.perf_counter()
    if mode == "retry":
        logs = eval_retry(
            list_eval_logs(out)[0].name, log_dir=out, **{k: v for k, v in kw.items() if k not in ("log_dir",)}
        )
    else:
        if mode == "nolog":
            kw.update(log_samples=False, log_realtime=False)
        if mode == "norealtime":
            kw.update(log_realtime=False)
        logs = eval(context(n), model="openai-api/bench/target", model_roles=roles, **kw)
    dt = time.perf_counter() - t0
    log = logs[0]
    ss = log.samples or []
    report(
        inner_s=dt,
        completed=log.results.completed_samples if log.results else None,
        scored=sum(1 for s in ss if s.scores),
        status=log.status,
        errors=sum(1 for s in ss if s.error),
    )
