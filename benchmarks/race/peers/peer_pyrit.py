"""PyRIT: RedTeamingAttack(max_turns=3, score_last_turn_only) + SelfAskTrueFalseScorer, AttackExecutor, SQLite memory.
python peer_pyrit.py N C OUTDIR [memory]      memory: InMemory instead of the SQLite file"""

import asyncio, os, sys, time, logging
from job import *

os.environ.setdefault("RETRY_MAX_NUM_ATTEMPTS", "10")
os.environ.setdefault("RETRY_WAIT_MIN_SECONDS", "1")
os.environ.setdefault("RETRY_WAIT_MAX_SECONDS", "8")
n, c, out = arguments()
out = str(out)
mode = sys.argv[4] if len(sys.argv) > 4 else ""
from pyrit.executor.attack import AttackAdversarialConfig, AttackExecutor, AttackScoringConfig, RedTeamingAttack
from pyrit.memory import CentralMemory
from pyrit.prompt_target import OpenAIChatTarget
from pyrit.score import SelfAskTrueFalseScorer
from pyrit.setup import initialize_pyrit_async


def target(model):
    return OpenAIChatTarget(model_name=model, endpoint=BASE, api_key="x")


async def main():
    if mode == "memory":
        await initialize_pyrit_async("InMemory", load_defaults=False, env_files=[], silent=True)
    else:
        await initialize_pyrit_async(
            "SQLite", load_defaults=False, env_files=[], silent=True, db_path=os.path.join(out, "pyrit.db")
        )
    mem = CentralMemory.get_memory_instance()
    objectives = [scenario(i) for i in range(n)]
    if os.environ.get(
        "RESUME"
    ):  # PyRIT has no resume for an executor run: the caller filters out objectives that have a stored result
        have = {r.objective for r in mem.get_attack_results()}
        objectives = [o for o in objectives if o not in have]
    attack = RedTeamingAttack(
        objective_target=target("target"),
        attack_adversarial_config=AttackAdversarialConfig(
            target=target("user-sim-pyrit"),
            system_prompt="{{ objective }} Write the customer's next message and nothing else. {{ max_turns }}",
        ),
        attack_scoring_config=AttackScoringConfig(
            objective_scorer=SelfAskTrueFalseScorer(chat_target=target("judge-pyrit"))
        ),
        max_turns=TURNS,
        score_last_turn_only=True,
    )
    t0 = time.perf_counter()
    res = await AttackExecutor(max_concurrency=c).execute_attack_async(
        attack=attack, objectives=objectives, return_partial_on_failure=True
    )
    dt = time.perf_counter() - t0
    done = res.completed_results
    report(
        inner_s=dt,
        completed=len(done),
        scored=sum(1 for r in done if r.last_score),
        incomplete=len(res.incomplete_objectives),
        outcomes={str(k): sum(1 for r in done if str(r.outcome) == str(k)) for k in {r.outcome for r in done}},
        db_results=len(mem.get_attack_results()),
        first_error=repr(res.incomplete_objectives[0][1])[:300] if res.incomplete_objectives else None,
    )


asyncio.run(main())
