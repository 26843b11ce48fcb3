"""Descriptions of calls, annotations, clusters, criteria, risks, role breaks, rules and series."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from theodolite.domain.annotation import Annotation, Control, Vote
from theodolite.domain.choices import Identification
from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.event import Series
from theodolite.domain.findings.realism import RoleBreakCheck
from theodolite.domain.findings.risks import RiskFinding
from theodolite.domain.flow import Message
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import Setting, TesterKind
from theodolite.domain.status import Call, spent_on
from theodolite.domain.study import Study, deviations_of
from theodolite.domain.study_parts import ContaminationCheck, ScenarioMaterial, StatedCriteria
from theodolite.domain.text import cost_text
from theodolite.reporting.words import figures

PROMPT_CHANGED = "not shown: only its hash was kept, and the words by which judges are asked have changed since"

"""Replacement for a prompt that cannot be reconstructed."""


def spent_text(calls: Sequence[Call]) -> str:
    """Return the use of calls in words, e.g. `2 calls, 1,204 tokens in, 88 out, $0.00041`; empty without calls.

    Replies from the response cache count as free calls. Replies from
    a recorded file are not calls.
    """
    spent = spent_on(calls)
    cached = sum(call.reply.cached and bool(call.reply.finish) for call in calls)
    if not spent.calls and not cached:
        return ""
    parts = [figures.number_of(spent.calls, "call")]
    parts += [f"{figures.number_of(cached, 'reply', 'replies')} from the cache"] if cached else []
    parts += [f"{figures.number_of(spent.attempts, 'attempt')}"] if spent.attempts > spent.calls else []
    if spent.tokens_in or spent.tokens_out:
        parts.append(f"{figures.number_of(spent.tokens_in, 'token')} in, {figures.count(spent.tokens_out)} out")
    if spent.cost_microusd:
        parts.append(cost_text(spent.cost_microusd))
    if spent.unpriced_calls:
        parts.append(f"{figures.number_of(spent.unpriced_calls, 'call')} without a known price")
    return ", ".join(parts)


def reply_text(call: Call) -> str:
    """Return the unchanged reply, or why it is missing."""
    return call.reply.text or f"({f'withheld: {call.reply.withheld}' if call.reply.withheld else 'empty'})"


def prompt_text(prompt: Sequence[Message]) -> str:
    """Return a chat as one text, each message under the name of its speaker."""
    return "\n\n".join(f"[{message.speaker.value}]\n{message.text}" for message in prompt)


def call_texts(calls: Sequence[Call]) -> list[tuple[str, str]]:
    """Return request and reply of each call, each with a name."""
    texts: list[tuple[str, str]] = []
    for number, call in enumerate(calls, start=1):
        if call.prompt is None:
            texts.append((f"prompt {number}", PROMPT_CHANGED))
        elif call.prompt:
            texts.append((f"prompt {number}", prompt_text(call.prompt)))
        texts.append((f"reply {number}", reply_text(call)))
    return texts


def notes_of(annotation: Annotation) -> list[str]:
    """Return an annotator's votes, and reasons for doubt."""
    notes = [_votes_text(annotation)] if annotation.votes else []
    doubts = {Control.FAILED: "answered wrongly", Control.UNANSWERED: "left out"}
    if annotation.control in doubts and not annotation.scripted:
        notes.append(f"Control question {doubts[annotation.control]}: did it follow what the dialogue says?")
    return notes


def _votes_text(annotation: Annotation) -> str:
    """Return the readings of a judge by question, e.g. `5 readings: score 2, 2, 3`."""
    n = len(annotation.votes)
    parts = [
        f"{name} {', '.join(_vote_text(vote, name, turn) for vote in annotation.votes)}"
        for name, turn in dict.fromkeys((answer.question, answer.turn) for answer in annotation.answers)
    ]
    return f"{figures.number_of(n, 'reading')}: {'; '.join(parts)}"


def _vote_text(vote: Vote, question: str, turn: int | None) -> str:
    answers = (a for a in vote.answers if a.question == question and a.turn in {turn, None})
    return next((answer.value or answer.outcome.value for answer in answers), "nothing")


_WORDS: Mapping[TesterKind, tuple[str, str]] = {
    TesterKind.PERSONA: ("persona", "personas"),
    TesterKind.ATTACK: ("strategy", "strategies"),
    TesterKind.SCRIPT: ("script", "scripts"),
    TesterKind.SLOT: ("person", "people"),
}


_RECORDED: Mapping[TesterKind, tuple[str, str]] = {
    **_WORDS,
    TesterKind.SCRIPT: ("prompt", "prompts"),  # rows of one id are repeats of one prompt
    TesterKind.SLOT: ("tester", "testers"),  # imported: people or programs
}


def cluster_words(settings: Iterable[Setting], subject: EstimateSubject) -> tuple[str, str]:
    """Return the name of one and of several clusters of an estimate's sessions.

    Args:
        settings: Of all sessions.
        subject: Subject of the estimate; level and tester type count if it has them.
    """
    meant = [setting for setting in settings if _is_meant(setting, subject)]
    met = {(setting.kind, setting.held_by is TesterType.RECORDED) for setting in meant}
    if len(met) != 1:
        return "cluster", "clusters"
    kind, is_recorded = met.pop()
    return _RECORDED[kind] if is_recorded else _WORDS[kind]


def _is_meant(setting: Setting, subject: EstimateSubject) -> bool:
    return subject.level in {None, setting.level} and subject.tester_type in {None, setting.held_by}


def criteria_facts(stated: Sequence[StatedCriteria]) -> tuple[tuple[str, str], ...]:
    """Return the current statements as pairs of name and text, each with its revision and day."""
    holding = {criteria.about: criteria for criteria in sorted(stated, key=lambda criteria: criteria.revision)}
    return tuple(
        (f"{about.value.capitalize()}, statement {one.revision} of {one.at:%Y-%m-%d}", one.text)
        for about, one in sorted(holding.items())
    )


def found_words(finding: RiskFinding) -> str:
    """Return the share of reviewed dialogues or sessions in which a risk materialised."""
    units = {record.dialogue or record.session for record in finding.materialised}
    n_seen = finding.n - finding.n_unseen
    if not n_seen:
        return f"nobody has looked at {_number(finding, finding.n)} yet"
    dismissed = f"; {figures.count(finding.n_dismissed)} reviewed and not" if finding.n_dismissed else ""
    return f"in {figures.count(len(units))} of {_number(finding, n_seen)}{dismissed}"


def open_words(finding: RiskFinding) -> str:
    """Return the pending decisions; empty for none."""
    parts = []
    if finding.pending:
        parts.append(f"{figures.number_of(len(finding.pending), 'session')} still to be reviewed")
    if finding.n_unseen and finding.n_unseen < finding.n:
        parts.append(f"{figures.count(finding.n_unseen)} more that nobody has looked at")
    return ", ".join(parts)


def _number(finding: RiskFinding, n: int) -> str:
    if finding.risk.identified_by is Identification.DIALOGUE:
        return figures.number_of(n, "dialogue")
    return figures.number_of(n, "session with a response", "sessions with a response")


def role_breaks_text(checks: Sequence[RoleBreakCheck]) -> str:
    """Return the number of dialogues in which simulated users broke character; empty for none."""
    result = [check for check in checks if check.n_dialogues]
    if not result:
        return ""
    concerned = len({label for check in result for label in check.dialogues()})
    kinds = ", ".join(f"{check.kind.value} {figures.count(check.n_dialogues)}" for check in result)
    n = max(check.n for check in checks)
    unread = unread_text(max(checks, key=lambda check: check.unread))
    more = f"; {unread}" if unread else ""
    return f"broke character in {figures.share(concerned, n)} dialogues ({kinds}{more}): review these first"


def unread_text(check: RoleBreakCheck) -> str:
    """Return the dialogues in a language that a rule does not cover; empty for none."""
    return f"words not known in {figures.count(check.unread)}" if check.unread else ""


def phrase_of(rule: DefectRule, sizes: Collection[int]) -> str:
    """Return the definition of a defect, with the number of dialogues if it is the same for all rates."""
    words = rule.phrase or f"defect ({rule.condition}), of {{n}}"
    if len(set(sizes)) > 1:
        words = words.split(", of {n}")[0]
    return words.replace("{n}", figures.count(max(sizes, default=0)))


def heading_of(guideline: Guideline, rule: DefectRule) -> str:
    """Return the name of a rule: its title, or its guideline if that has no other rule."""
    return rule.title or (guideline.name if len(guideline.defect_rules) == 1 else f"{guideline.name}: {rule.name}")


def short_phrase(rule: DefectRule) -> str:
    """Return the definition of a defect without the number of dialogues, e.g. `fully refused`."""
    return rule.phrase.split(", of {n}")[0] if rule.phrase else "defects"


def contamination_facts(study: Study, checks: Sequence[ContaminationCheck]) -> tuple[tuple[str, str], ...]:
    """Return the contamination note as pairs of name and text: public parts with dates, and canaries in responses.

    Scenarios from no pack and no packet are listed as unknown: their other publications are not stated.
    """
    facts = [
        (_material_name(check.material), f"{_publication(check.material)}; {_canaries(check)}") for check in checks
    ]
    known = {name for check in checks for name in check.material.scenarios}
    own = [scenario.name for scenario in study.scenarios if scenario.name not in known]
    if own or not checks:
        about = f"Scenarios {', '.join(own)}" if own else "Prompts of the study"
        facts.append((about, "publication unknown; no canary, so contamination was not tested"))
    return tuple(facts)


def _material_name(material: ScenarioMaterial) -> str:
    kind = "Packet" if material.sha256 else "Pack"
    return f"{kind} {material.name}" + (f", version {material.version}" if material.version else "")


def _publication(material: ScenarioMaterial) -> str:
    if material.is_held_out:
        return f"held out, SHA-256 {material.sha256[:12]}"
    return f"public since {material.public_since}" if material.public_since else "public, date not stated"


def _canaries(check: ContaminationCheck) -> str:
    n = len(check.material.canaries)
    if not n:
        return "no canary, so contamination was not tested"
    if not check.responses:
        return "no response was searched for its canary"
    searched = f"{figures.count(check.responses)} responses searched"
    if not check.found:
        return f"no canary in {searched}; this does not exclude contamination"
    parts = (f"{name} repeats a canary in {', '.join(labels)}" for name, labels in check.found.items())
    return f"contaminated: {'; '.join(parts)} ({searched})"


def series_facts(study: Study) -> tuple[tuple[str, str], ...]:
    """Return the preregistration of a series as pairs of name and text, and the study's deviations from it."""
    series = study.preregistered
    if series is None:
        return (("Series", f"{study.series}; its plan is not written down here"),) if study.series else ()
    deviations = "; ".join(deviations_of(study)) or "none: all that was tested had been published"
    return (*published_facts(series), ("Departures", deviations))


def published_facts(series: Series) -> tuple[tuple[str, str], ...]:
    """Return the preregistration of a series as pairs of name and text."""
    plan = series.plan
    teams = (f"{team.name} with {', '.join(team.applications) or 'nothing yet'}" for team in series.teams)
    facts = {
        "Series": f"{series.name}, {series.ai_type.value} AI",
        "Types of users": ", ".join(kind.value for kind in series.user_types),
        "Risks": ", ".join(series.risks),
        "Teams": "; ".join(teams),
        "Scenarios": ", ".join(plan.scenarios),
        "Requirements": plan.requirements,
        "Criteria": plan.criteria,
        "Expected behaviour": plan.expected_behaviour,
        "Methods": plan.methods,
        "Preceding series": series.follows,
        "Criteria for submissions": " ".join(series.submission_criteria),
        "Terms of participation": " ".join(series.terms),
    }
    return tuple((name, text) for name, text in facts.items() if text)
