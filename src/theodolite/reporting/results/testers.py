"""Findings on testers and sessions as entries of the results file."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.domain.estimate import ClaimTest, StrategyTally, Undefined
from theodolite.domain.event_record import (
    BlindingAssessment,
    EventFinding,
    ExposureTally,
    LanguageTally,
    WithdrawalTally,
)
from theodolite.domain.findings.number import Significance, TaskTally
from theodolite.domain.findings.realism import GroupCover, RateContrast, Realism, SpokenSide, StyleContrast, StyleSpread
from theodolite.domain.findings.responses import (
    AnswerContrast,
    AnswerSpread,
    CodeAgreement,
    CoderPair,
    CodingFinding,
    ConstructAnswers,
    LevelOrder,
    ProxyCheck,
    ProxyRate,
    ResponseFinding,
    ThemeShare,
)
from theodolite.domain.findings.risks import MaterialisedRisk, RiskContrast, RiskFinding, RiskImpact, RiskPart
from theodolite.domain.identity import Json
from theodolite.domain.instrument import Question
from theodolite.domain.study_parts import Risk, TopicTally
from theodolite.reporting.results.estimates import number_entry, short_number_entry, subject_entry


def coding_entry(found: CodingFinding) -> dict[str, Json]:
    """Return one entry of the list `codings`."""
    return {
        "questionnaire": found.questionnaire,
        "question": found.question,
        "text": found.text,
        "codebook": found.codebook,
        "codebook_name": found.name,
        "codebook_revision": found.revision,
        "answers": found.n,
        "coders": found.n_coders,
        "states": {state.value: n for state, n in found.states.items()},
        "alike": number_entry(found.alike),
        "alpha": number_entry(found.alpha),
        "codes": [_agreement(code) for code in found.codes],
        "pairs": [_pair(pair, found.coders) for pair in found.pairs],
        "themes": [_theme(theme) for theme in found.themes],
        "quotes": [
            {
                "text": quote.text,
                "codes": list(quote.codes),
                "application": quote.application,
                "level": quote.level.value,
            }
            for quote in found.quotes
        ],
    }


def _agreement(agreement: CodeAgreement) -> dict[str, Json]:
    return {
        "code": agreement.code,
        "given": agreement.n_given,
        "alike": number_entry(agreement.alike),
        "alpha": number_entry(agreement.alpha),
    }


def _pair(pair: CoderPair, coders: Mapping[str, str]) -> dict[str, Json]:
    return {
        "coders": [coders[pair.first], coders[pair.second]],
        "answers": pair.n,
        "alike": number_entry(pair.alike),
        "alpha": number_entry(pair.alpha),
        "codes": [_agreement(code) for code in pair.codes],
    }


def _theme(share: ThemeShare) -> dict[str, Json]:
    return {
        "code": share.code,
        "application": share.application,
        "level": share.level.value,
        "group": {share.group[0]: share.group[1]} if share.group else {},
        "n": share.n,
        "undecided": share.n_undecided,
        "uncoded": share.n_uncoded,
        "testers": share.n_people,
        "withheld": share.share is None,
        "share": number_entry(share.share) if share.share is not None else None,
        "bounds": list(share.bounds) if share.bounds is not None else None,
    }


def task_entry(tally: TaskTally) -> dict[str, Json]:
    """Return one entry of the list `tasks`."""
    return {
        "application": tally.application,
        "level": tally.level.value,
        "sessions": tally.n_sessions,
        "unsaid": tally.n_unsaid,
        "done": number_entry(tally.done),
    }


def event_entry(finding: EventFinding | None) -> dict[str, Json] | None:
    """Return the object `event`; None without participants."""
    if finding is None:
        return None
    return {
        "blinding": [_leak(leak) for leak in finding.leaks],
        "exposure": [_exposure(tally) for tally in finding.exposures],
        "withdrawals": [_withdrawal(tally) for tally in finding.withdrawals],
        "topics": [_topic(tally) for tally in finding.topics],
        "languages": [_language(tally) for tally in finding.languages],
    }


def _leak(leak: BlindingAssessment) -> dict[str, Json]:
    return {
        "guessed": leak.about.value,
        "level": leak.level.value if leak.level else None,
        "right": number_entry(leak.rate),
        "by_chance": leak.chance,
        "p_value": leak.p_value,
        "unknown": leak.n_unknown,
        "repeated": leak.n_repeated,
    }


def _exposure(tally: ExposureTally) -> dict[str, Json]:
    return {
        "level": tally.level.value,
        "people": tally.n_people,
        "sessions": tally.n_sessions,
        "minutes_median": tally.minutes_median,
        "minutes_most": tally.minutes_most,
        "turns": tally.turns,
        "severe": tally.severe,
        "severe_most": tally.severe_most,
        "enough": tally.n_enough,
    }


def _withdrawal(tally: WithdrawalTally) -> dict[str, Json]:
    return {
        "kind": tally.kind.value,
        "people": tally.n_people,
        "sessions": tally.sessions,
        "dialogues": tally.dialogues,
        "answers": tally.answers,
    }


def _topic(tally: TopicTally) -> dict[str, Json]:
    return {
        "topic": tally.topic,
        "weight": tally.weight.value,
        "asked": tally.n_asked,
        "people": tally.n_people,
        "sessions_not_offered": tally.n_not_offered,
        "sessions_free": tally.n_free,
    }


def _language(tally: LanguageTally) -> dict[str, Json]:
    return {"language": tally.language or None, "sessions": tally.n_sessions, "dialogues": tally.n_dialogues}


def response_entry(finding: ResponseFinding) -> dict[str, Json]:
    """Return one entry of the list `responses`."""
    return {
        "questionnaire": finding.questionnaire,
        "version": finding.version,
        "level": finding.level.value,
        "responses": finding.n,
        "testers": finding.n_people,
        "drafts": finding.n_drafts,
        "other_versions": finding.n_other,
        "questions": [_question(question) for question in finding.questions],
        "answers": [_answer_spread(spread) for spread in finding.spreads],
        "contrasts": [_answer_contrast(contrast) for contrast in finding.contrasts],
    }


def _question(question: Question) -> dict[str, Json]:
    return {
        "name": question.name,
        "text": question.text,
        "topic": question.topic.value if question.topic else None,
        "construct": question.construct.value if question.construct else None,
        "orientation": question.scale.orientation.value,
        "asked_when": question.when.text if question.when else None,
    }


def _answer_spread(spread: AnswerSpread) -> dict[str, Json]:
    return {
        "question": spread.question,
        "application": spread.application,
        "group": {spread.group[0]: spread.group[1]} if spread.group else {},
        "n": spread.n,
        "counts": dict(spread.counts),
        "outcomes": {outcome.value: n for outcome, n in spread.outcomes.items()},
        "quartiles": list(spread.quartiles) if spread.quartiles else None,
        "top_labels": list(spread.top_labels),
        "top": number_entry(spread.top) if spread.top is not None else None,
    }


def construct_entry(answers: ConstructAnswers) -> dict[str, Json]:
    """Return one entry of the list `constructs`."""
    return {
        "construct": answers.construct.value,
        "instrument": answers.instrument,
        "annotator": answers.annotator or None,
        "level": answers.level.value,
        "scenario": answers.scenario or None,
        "clusters": answers.n_clusters,
        **{name: value for name, value in _answer_spread(answers.spread).items() if name != "group"},
    }


def _answer_contrast(contrast: AnswerContrast) -> dict[str, Json]:
    return {
        "question": contrast.question,
        "by": contrast.by,
        "first": contrast.first,
        "second": contrast.second,
        **comparison_fields(contrast.test),
        "adjusted_p_value": contrast.adjusted_p_value,
    }


def comparison_fields(test: Significance | Undefined) -> dict[str, Json]:
    """Return a test in which each tester counts once, as fields."""
    common: dict[str, Json] = {"n": test.n, "testers": test.n_clusters, "method": test.method}
    if isinstance(test, Undefined):
        return {**dict.fromkeys(("p_value", "effect", "effect_name")), **common, "undefined_reason": test.reason}
    effect: dict[str, Json] = {"p_value": test.p_value, "effect": test.effect, "effect_name": test.effect_name}
    return {**effect, **common, "undefined_reason": None}


SESSION_DIGITS = 16

"""Digits of a session's key that are written."""


def risk_entry(finding: RiskFinding) -> dict[str, Json]:
    """Return one entry of the list `risks`."""
    return {
        "risk": finding.risk.name,
        "taxonomy": finding.risk.taxonomy,
        "identified_by": finding.risk.identified_by.value,
        "application": finding.application,
        "level": finding.level.value,
        "n": finding.n,
        "materialised": [_record(record) for record in finding.materialised],
        "pending": [session[:SESSION_DIGITS] for session in finding.pending],
        "dismissed": finding.n_dismissed,
        "undecided": finding.n_undecided,
        "groups": [_part(part) for part in finding.parts],
        "contrasts": [_contrast(contrast) for contrast in finding.contrasts],
        "impact": _impact(finding.impact) if finding.impact else None,
    }


def taxonomy_entry(risk: Risk) -> dict[str, Json]:
    """Return one entry of the list `taxonomies`."""
    return {
        "risk": risk.name,
        "shown_by": [*risk.rules, *(answer.text for answer in risk.answers)],
        "classes": [
            {"identifier": class_.identifier, "title": class_.title, "taxonomy": class_.taxonomy}
            for class_ in risk.classes
        ],
    }


def _impact(impact: RiskImpact) -> dict[str, Json]:
    return {
        "likelihood": short_number_entry(impact.likelihood),
        "magnitude": short_number_entry(impact.magnitude),
        "expected": short_number_entry(impact.expected),
        "directions": dict(impact.impacts),
        "materialised": impact.n_real,
        "ungraded": impact.n_ungraded,
    }


def _part(part: RiskPart) -> dict[str, Json]:
    return {
        "group": part.group,
        "part": part.part,
        "n": part.n,
        "testers": part.n_people,
        "undecided": part.n_undecided,
        "materialised": part.count,
        "withheld": part.count is None,
    }


def _contrast(contrast: RiskContrast) -> dict[str, Json]:
    return {
        "group": contrast.group,
        "first": contrast.first,
        "second": contrast.second,
        **comparison_fields(contrast.test),
        "adjusted_p_value": contrast.adjusted_p_value,
    }


def _record(record: MaterialisedRisk) -> dict[str, Json]:
    return {
        "dialogue": record.dialogue or None,
        "session": record.session[:SESSION_DIGITS] or None,
        "shown_by": record.shown_by,
        "by": list(record.by),
        "against": list(record.against),
        "magnitude": record.magnitude,
        "impact": record.impact.value,
    }


def realism_entry(realism: Realism) -> dict[str, Json]:
    """Return one entry of the list `realism`."""
    return {
        "scenario": realism.people.scenario,
        "people": _side(realism.people),
        "simulated": _side(realism.simulated),
        "style": [_style(contrast) for contrast in realism.styles],
        "rates": [_rate(contrast) for contrast in realism.rates],
        "groups": [_cover(cover) for cover in realism.groups],
    }


def _side(side: SpokenSide) -> dict[str, Json]:
    return {
        "level": side.level.value,
        "tester_type": side.held_by.value,
        "dialogues": side.n,
        "applications": list(side.applications),
    }


def _style(contrast: StyleContrast) -> dict[str, Json]:
    return {
        "mark": contrast.mark.value,
        "people": _spread(contrast.people),
        "simulated": _spread(contrast.simulated),
        "difference": number_entry(contrast.difference),
    }


def _spread(spread: StyleSpread) -> dict[str, Json]:
    return {**number_entry(spread.mean), "quartiles": list(spread.quartiles) if spread.quartiles else None}


def _rate(contrast: RateContrast) -> dict[str, Json]:
    return {
        "subject": subject_entry(contrast.subject),
        "people": number_entry(contrast.people),
        "simulated": number_entry(contrast.simulated),
        "difference": number_entry(contrast.difference),
    }


def _cover(cover: GroupCover) -> dict[str, Json]:
    return {
        "group": cover.name,
        "both": list(cover.both),
        "people_only": list(cover.people_only),
        "simulated_only": list(cover.simulated_only),
    }


def claim_entry(test: ClaimTest) -> dict[str, Json]:
    """Return a claim as the results file has it."""
    return {
        "text": test.claim.text,
        "kind": test.claim.kind.value,
        "scripts": list(test.claim.scripts),
        "status": test.status.value,
        "guideline": test.guideline or None,
        "rule": test.rule or None,
        "annotator": test.annotator or None,
        "planned": test.planned,
        "n": test.n,
        "contradicting": list(test.contradicting),
        "reason": test.reason or None,
    }


def proxy_entry(check: ProxyCheck) -> dict[str, Json]:
    """Return one entry of the list `proxies`."""
    return {
        "scenario": check.scenario,
        "rule": check.rule,
        "annotator": check.annotator,
        "planned": check.n_planned,
        "completed": check.n_held,
        "labelled": check.n_labelled,
        "reach": check.reach.value,
        "rates": [_proxy_rate(rate) for rate in check.rates],
        "apart": {**comparison_fields(check.apart), "adjusted_p_value": check.adjusted_p_value},
        "orders": [_order(order) for order in check.orders],
    }


def _proxy_rate(rate: ProxyRate) -> dict[str, Json]:
    return {"application": rate.application, "level": rate.level.value, "defect": number_entry(rate.defect)}


def _order(order: LevelOrder) -> dict[str, Json]:
    levels: list[Json] = [order.first.value, order.second.value]
    return {"levels": levels, "alike": order.alike, "opposed": order.opposed, "tied": order.tied}


def strategy_entry(tally: StrategyTally) -> dict[str, Json]:
    """Return one entry of the list `strategies` of the results file."""
    return {
        "scenario": tally.scenario,
        "strategy": tally.strategy,
        "application": tally.application,
        "level": tally.level,
        "tester_type": tally.held_by,
        "planned": tally.planned,
        "tries": tally.tries,
        "attempts": tally.attempts,
        "refinements": tally.refinements,
        "success": short_number_entry(tally.success, "count"),
        "confirmed": dict(tally.confirmed),
        "dialogues": list(tally.dialogues),
    }
