"""Evidence whose judge's calls are known, word by word."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import live_evidence
from theodolite.domain.call import Call
from theodolite.domain.evidence import Evidence, ListedArchive
from theodolite.domain.flow import Message, Reply, Speaker

ASKED = "You are an annotator.\nJudge by the guideline alone."
SAID = '{"score": "2"} <b id="injected">not bold</b>'


def called_evidence() -> Evidence:
    """Return the live study: each label took a call whose prompt is known and one whose prompt has changed since."""
    evidence = live_evidence()
    assert isinstance(evidence.archive, ListedArchive)
    calls = {annotation.unit: _calls(annotation.dialogue) for annotation in evidence.archive.annotation_list}
    calls |= {dialogue.key: (_call("Hello."), _call("Yes.")) for dialogue in evidence.archive.dialogue_list}
    calls |= {failure.unit: (_call("Hello."),) for failure in evidence.archive.failure_list}
    return replace(evidence, archive=replace(evidence.archive, call_lists=calls))


def _calls(dialogue: str) -> tuple[Call, ...]:
    prompt = (Message(speaker=Speaker.SYSTEM, text=ASKED), Message(speaker=Speaker.USER, text=f"Material {dialogue}"))
    return replace(_call(SAID), prompt=prompt), replace(_call(""), prompt=None)


def _call(text: str) -> Call:
    return Call(reply=Reply(text=text, finish="stop", tokens_in=600, tokens_out=20, cost_microusd=205))
