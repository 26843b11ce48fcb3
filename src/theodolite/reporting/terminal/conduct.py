"""Judge behaviour, as lines of a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from theodolite.domain.annotator import ModelJudge
from theodolite.domain.findings.judge_diagnostics import JudgeDiagnostics, VoteRecord
from theodolite.domain.study import Study
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.words import figures

_NAMED = 5
"""Dialogues that are named one by one; more are counted. Count."""


def conduct_lines(study: Study, conducts: Sequence[JudgeDiagnostics]) -> Iterator[tuple[str, str]]:
    """Yield labelled sentences on votes, quotes and control questions, where there is something to say."""
    by_name: dict[str, list[JudgeDiagnostics]] = {}
    for conduct in conducts:
        by_name.setdefault(conduct.annotator, []).append(conduct)
    for label, words in _LINES.items():
        for name, own in by_name.items():
            if text := words(title_of(study, name), own):
                yield label, text
    for name, own in by_name.items():
        if text := _other_name_text(study, name, own):
            yield "Model", text


def _other_name_text(study: Study, judge: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    """Return that a judge's endpoint answers as another model than was asked for; dated names of it are no other."""
    labelling = study.annotator(judge).labelling
    if not isinstance(labelling, ModelJudge):
        return ""
    asked = study.model(labelling.model).model
    names = dict.fromkeys(name for conduct in conducts if not conduct.scripted for name in conduct.answered_as)
    if not asked or len(names) != 1 or _is_kin(asked, *names):
        return ""
    return f"{title_of(study, judge)} was asked for {asked} and answered as {next(iter(names))}"


def _is_kin(asked: str, answered: str) -> bool:
    """Tell whether two names of models go together: `gpt-5` and `gpt-5-2026-01-02`, `org/model` and `model`."""
    first, second = (name.casefold().rpartition("/")[2] for name in (asked, answered))
    return first in second or second in first


def _votes_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    records = [conduct.votes for conduct in conducts if conduct.votes]
    dialogues, cast = sum(r.dialogues for r in records), sum(r.cast for r in records)
    if not dialogues:
        return ""
    n_split, n_tied = sum(len(r.split) for r in records), sum(len(r.tied) for r in records)
    text = f"{title} took {cast / dialogues:.1f} of {records[0].voting.most} calls a dialogue"
    text += f"; its readings differ on {figures.share(n_split, dialogues)}"
    text += f", without a majority on {figures.count(n_tied)}" if n_tied else ""
    dearest = max((r for r in records if r.advice), key=lambda r: r.advice.error if r.advice else 0, default=None)
    return f"{text}. {_advice_text(dearest)}".rstrip()


def _advice_text(record: VoteRecord | None) -> str:
    if record is None or record.advice is None or not record.advice.samples_do_better:
        return ""
    error, better = record.advice.error, record.advice.error_as_samples
    return (
        f"For the rate alone, {figures.number_of(record.cast, 'call')} on as many dialogues would do better: a standard"
        f" error of {100 * better:.1f} points, not {100 * error:.1f}."
    )


def _quotes_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    found = [label for conduct in conducts for label in conduct.ungrounded]
    if not found:
        return ""
    verdicts = sum(conduct.verdicts for conduct in conducts)
    return (
        f"{title} quotes words that do not stand there in {figures.share(len(found), verdicts)} verdicts{_named(found)}"
    )


def _control_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    asked = [conduct for conduct in conducts if not conduct.scripted]
    failed = [label for conduct in asked for label in conduct.control_failed]
    n_silent = sum(conduct.control_unanswered for conduct in asked)
    if not failed and not n_silent:
        return ""
    verdicts = sum(conduct.verdicts for conduct in asked)
    parts = [f"answered wrongly in {figures.share(len(failed), verdicts)}{_named(failed)}"] if failed else []
    parts += [f"left out in {figures.share(n_silent, verdicts)}"] if n_silent else []
    return f"{title}: control question {', '.join(parts)}; such verdicts may follow what the dialogue told the judge"


def _names_text(title: str, conducts: Sequence[JudgeDiagnostics]) -> str:
    names = list(dict.fromkeys(name for conduct in conducts for name in conduct.answered_as))
    if len(names) < 2:
        return ""
    return f"{title} answered under {len(names)} names, {', '.join(names)}: it is not one instrument"


def _named(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:_NAMED])
    more = f" and {figures.count(len(labels) - _NAMED)} more" if len(labels) > _NAMED else ""
    return f" ({shown}{more})" if labels else ""


_LINES: Mapping[str, Callable[[str, Sequence[JudgeDiagnostics]], str]] = {
    "Votes": _votes_text,
    "Quotes": _quotes_text,
    "Control": _control_text,
    "Changed": _names_text,
}
"""What a summary calls each matter, and how it is said of one judge."""
