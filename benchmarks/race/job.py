"""The job that every contender does: N conversations of 3 turns and a judge, 7 calls a sample."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

BASE = os.environ.get("BASE_URL", "http://127.0.0.1:8399/v1")
TURNS = 3
CALLS = 2 * TURNS + 1
TARGET_SYSTEM = "You are a helpful support agent of an online shop."
JUDGE = 'Score the assistant in this conversation from 1 to 5 and reply with JSON {"score": n, "reason": "..."}.\n\n'


def wish(number: int) -> str:
    """Return what customer number so-and-so wants: different for each, so that no two calls are equal."""
    return f"when item {number * 7919 % 100003} ships and how to return it"


def scenario(number: int) -> str:
    """Return one customer's situation."""
    return f"You are customer number {number} of an online shop. You want to know {wish(number)}."


def user_system(number: int) -> str:
    """Return the system prompt of a simulated user."""
    return scenario(number) + " Write the customer's next message and nothing else."


def transcript(turns: list[tuple[str, str]]) -> str:
    """Return a conversation as text."""
    return "\n".join(f"{speaker}: {text}" for speaker, text in turns)


def arguments() -> tuple[int, int, Path]:
    """Return samples, concurrency and the folder for results from the command line."""
    out = Path(sys.argv[3]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    return int(sys.argv[1]), int(sys.argv[2]), out


def report(**facts: object) -> None:
    """Tell the measuring process what was done."""
    print("RESULT " + json.dumps(facts), flush=True)
