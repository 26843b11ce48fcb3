"""Testers in the report: responses, themes, tasks, the event, simulated users and their realism."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.event_record import (
    BlindingAssessment,
    EventFinding,
    ExposureTally,
    LanguageTally,
    WithdrawalTally,
)
from theodolite.domain.findings.number import Significance, TaskTally
from theodolite.domain.findings.realism import (
    GroupCover,
    RateContrast,
    Realism,
    RoleBreakCheck,
    SpokenSide,
    StyleContrast,
    StyleSpread,
)
from theodolite.domain.findings.responses import (
    AnswerContrast,
    AnswerSpread,
    CodingFinding,
    ResponseFinding,
    ThemeQuote,
    ThemeShare,
)
from theodolite.domain.instrument import Question
from theodolite.domain.study_parts import TopicTally
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.tables import Column, ColumnKind, Table, TableCell, Value, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import unread_text
from theodolite.reporting.words.estimates import rate_text

LONGEST = 160
"""Maximum length of an example; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseBlock:
    """One questionnaire at one level.

    Attributes:
        title: Level and heading.
        about: Number of answers, and exclusions.
        table: All testers.
        groups: One table for each group.
        contrasts: Comparisons of applications and groups; None without any.
    """

    title: str
    about: str
    table: Table
    groups: tuple[Table, ...]
    contrasts: Table | None


def response_blocks(subject: Subject) -> tuple[ResponseBlock, ...]:
    """Return one block for each questionnaire and level that testers answered at."""
    return tuple(_response_block(finding) for finding in subject.findings.responses)


def _response_block(finding: ResponseFinding) -> ResponseBlock:
    groups = dict.fromkeys(spread.group for spread in finding.spreads if spread.group)
    title = f"{finding.level.value.capitalize()}: {finding.questionnaire}"
    contrasts = tuple(_contrast(finding.questions, contrast) for contrast in finding.contrasts)
    return ResponseBlock(
        title=title,
        about=_about_responses(finding),
        table=_response_table(finding, title, (), "All testers"),
        groups=tuple(_response_table(finding, title, group, ": ".join(group)) for group in groups),
        contrasts=Table(title=f"{title}, comparisons", columns=columns("Question", "Between", "Test"), rows=contrasts)
        if contrasts
        else None,
    )


def _about_responses(finding: ResponseFinding) -> str:
    people = figures.number_of(finding.n_people, "tester")
    excluded = [(finding.n_drafts, "not handed in"), (finding.n_other, "to another version of the questions")]
    text = "; ".join(f"{figures.count(n)} {why}, not in it" for n, why in excluded if n)
    return f"{figures.number_of(finding.n, 'response')} of {people}{'; ' + text if text else ''}."


def _response_table(finding: ResponseFinding, title: str, group: tuple[str, str] | tuple[()], caption: str) -> Table:
    spreads = {(spread.question, spread.application): spread for spread in finding.spreads if spread.group == group}
    applications = tuple(dict.fromkeys(application for _, application in spreads))
    return Table(
        title=f"{title}, {caption}",
        caption=caption,
        columns=columns("Question", *applications),
        rows=tuple(
            (question.text, *(_answer_cell(spreads.get((question.name, name))) for name in applications))
            for question in finding.questions
        ),
    )


def _answer_cell(spread: AnswerSpread | None) -> TableCell:
    if spread is None:
        return TableCell(value=None)
    excluded = "; ".join(f"{figures.count(n)} {outcome.value}" for outcome, n in spread.outcomes.items() if n)
    counts = ", ".join(f"{label}: {figures.count(n)}" for label, n in spread.counts.items() if n)
    written = f"{figures.count(len(spread.texts))} in own words" if spread.texts else ""
    details = [quartiles_text(spread.quartiles), _top(spread), f"not in it: {excluded}" if excluded else ""]
    return TableCell(value=written or counts or "none", details=tuple(filter(None, details)))


def quartiles_text(quartiles: Sequence[str] | None) -> str:
    """Return the median and the quartiles of answers; empty if labels have no order."""
    return f"median {quartiles[1]} (quartiles {quartiles[0]} and {quartiles[2]})" if quartiles else ""


def _top(spread: AnswerSpread) -> str:
    top = spread.top
    if not isinstance(top, Estimate) or top.count is None:
        return ""
    return f"{' or '.join(spread.top_labels)}: {rate_text(top)}"


def _contrast(questions: Iterable[Question], contrast: AnswerContrast) -> tuple[str, str, str]:
    text = next(question.text for question in questions if question.name == contrast.question)
    sides = f"{contrast.first} and {contrast.second}"
    sides = sides if contrast.by == "application" else f"{contrast.by}: {sides}"
    return text, sides, test_text(contrast.test, contrast.adjusted_p_value, "tester")


def test_text(test: Significance | Undefined, adjusted_p_value: float | None, unit: str) -> str:
    """Return a test and its p-values; `unit` is the unit of exchange."""
    if isinstance(test, Undefined):
        return undefined_text(test)
    adjusted = "" if adjusted_p_value is None else f", adjusted {adjusted_p_value:.3f}"
    effect = "" if test.effect is None else f"; effect {test.effect:+.2f}"
    return f"p {test.p_value:.3f}{adjusted}{effect}; {figures.number_of(test.n_clusters or 0, unit)}, {test.method}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeBlock:
    """The coded answers to one question.

    Attributes:
        title: The question.
        about: Number of answers, their states, and the agreement of the coders.
        table: Themes with the answers that mention them.
        groups: Themes by group of testers; None without groups.
        codes: Agreement by code.
        pairs: Agreement of each two coders; None for two coders.
        quotes: Released words and their context.
    """

    title: str
    about: str
    table: Table | None
    groups: Table | None
    codes: Table
    pairs: Table | None
    quotes: tuple[tuple[str, str], ...]


def theme_blocks(subject: Subject) -> tuple[ThemeBlock, ...]:
    """Return one block for each open question with answers that two people have coded."""
    return tuple(_theme_block(finding) for finding in subject.findings.codings if finding.n_coders > 1)


_AGREEMENT_KINDS = (Column("The same codes", ColumnKind.RATE), Column("Alpha of whole sets", ColumnKind.COEFFICIENT))


def _theme_block(finding: CodingFinding) -> ThemeBlock:
    states = ", ".join(f"{figures.count(n)} {state.value}" for state, n in finding.states.items())
    book = f"Codebook `{finding.name}`" if finding.name else "Codebook"
    alike, alpha = TableCell(value=finding.alike), TableCell(value=finding.alpha, kind=ColumnKind.COEFFICIENT)
    return ThemeBlock(
        title=finding.text,
        about=f"{figures.number_of(finding.n, 'answer')}: {states}. {book}, revision {finding.revision}. "
        f"The same codes: {alike.text}. Krippendorff's alpha of whole sets of codes: {alpha.text}.",
        table=theme_table(f"Themes: {finding.text}", [share for share in finding.themes if not share.group]),
        groups=theme_table(f"Themes by group: {finding.text}", [share for share in finding.themes if share.group]),
        codes=Table(
            title=f"Agreement by code: {finding.text}",
            columns=columns(
                "Code",
                Column("Both say the same", ColumnKind.RATE),
                Column("Krippendorff's alpha", ColumnKind.COEFFICIENT),
            ),
            rows=tuple((code.code, code.alike, code.alpha) for code in finding.codes),
        ),
        pairs=_pair_table(finding) if len(finding.pairs) > 1 else None,
        quotes=tuple((quote.text, _about_quote(quote)) for quote in finding.quotes),
    )


def _pair_table(finding: CodingFinding) -> Table:
    coders = finding.coders
    return Table(
        title=f"Agreement two by two: {finding.text}",
        columns=columns("Coders", Column("Answers", ColumnKind.COUNT), *_AGREEMENT_KINDS),
        rows=tuple(
            (f"{coders[pair.first]} and {coders[pair.second]}", pair.n, pair.alike, pair.alpha)
            for pair in finding.pairs
        ),
    )


def theme_table(title: str, shares: Sequence[ThemeShare]) -> Table | None:
    """Return a row for each theme, application and level; None without any."""
    if not shares:
        return None
    headings = columns("Theme", "Where", Column("Answers that speak of it", ColumnKind.RATE), "Excluded")
    return Table(title=title, columns=headings, rows=tuple(_theme_row(share) for share in shares))


def _theme_row(share: ThemeShare) -> tuple[Value, ...]:
    group = f", {share.group[0]}: {share.group[1]}" if share.group else ""
    excluded = [(share.n_undecided, "undecided"), (share.n_uncoded, "not coded by two")]
    return (
        share.code,
        f"{share.application}, {share.level.value}{group}",
        "too few people to tell" if share.share is None else share.share,
        ", ".join(f"{figures.count(n)} {why}" for n, why in excluded if n),
    )


def _about_quote(quote: ThemeQuote) -> str:
    codes = f"; {', '.join(quote.codes)}" if quote.codes else ""
    return f"{quote.application}, {quote.level.value}{codes}"


def task_lines(subject: Subject) -> tuple[str, ...]:
    """Return the sessions in which people completed their task, for each application and level."""
    return tuple(_task(tally) for tally in subject.findings.tasks)


def _task(tally: TaskTally) -> str:
    unsaid = f"; {figures.number_of(tally.n_unsaid, 'session')} without a word about it" if tally.n_unsaid else ""
    done = rate_text(tally.done) if isinstance(tally.done, Estimate) else undefined_text(tally.done)
    return f"{tally.application}, {tally.level.value}: {done}{unsaid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """The section on the event.

    Attributes:
        tables: Blinding, exposure and content opt-outs.
        languages: Languages in which people read the study; empty for at most one.
        withdrawals: One sentence for each kind.
    """

    tables: tuple[Table, ...]
    languages: str
    withdrawals: tuple[str, ...]


def event_view(subject: Subject) -> EventView | None:
    """Return the section; None without participants."""
    finding = subject.findings.event
    if finding is None:
        return None
    tables = (
        blinding_table(finding),
        Table(
            title="Exposure",
            caption="Exposure of people in completed sessions",
            columns=columns("Level", "People", "Minutes per person", "Guardrail violations marked by testers"),
            rows=tuple(_exposure(tally) for tally in finding.exposures),
        ),
        Table(
            title="Content opt-outs",
            caption="Content opt-outs: planned sessions on them that were not completed are missing, not harmless",
            columns=columns(
                "Topic",
                "Opted out, of those asked",
                Column("Sessions not offered", ColumnKind.COUNT),
                Column("Sessions without a participant", ColumnKind.COUNT),
            ),
            rows=tuple(_topic(tally) for tally in finding.topics),
        ),
    )
    return EventView(
        tables=tuple(table for table in tables if table.rows),
        languages=_languages(finding.languages),
        withdrawals=tuple(withdrawal_text(tally) for tally in finding.withdrawals),
    )


def blinding_table(finding: EventFinding) -> Table:
    """Return the frequency of right guesses of application or level, against chance; no rows without guesses."""
    return Table(
        title="Blinding",
        caption="Did testers see through the blinding? First guesses at the end, against chance",
        columns=columns("Guess of", Column("Right", ColumnKind.RATE), "By chance", "Test against guessing"),
        rows=tuple(_leak(leak) for leak in finding.leaks),
    )


def _leak(leak: BlindingAssessment) -> tuple[Value | TableCell, ...]:
    aspect = f"{leak.about.value}, {leak.level.value if leak.level else 'all levels'}"
    unknown = (f"{leak.n_unknown} did not know",) if leak.n_unknown else ()
    too_few = "p undefined: too few guesses" if isinstance(leak.rate, Estimate) else ""
    p_value = too_few if leak.p_value is None else f"p = {leak.p_value:.3f}"
    return aspect, TableCell(value=leak.rate, details=unknown), figures.percent(leak.chance), p_value


def _exposure(tally: ExposureTally) -> tuple[str, ...]:
    people = figures.number_of(tally.n_people, "person", "people")
    sessions = figures.number_of(tally.n_sessions, "session")
    limit = "" if tally.n_enough is None else f"; {tally.n_enough} reached the limit of the study"
    return (
        tally.level.value,
        f"{people}, {sessions}",
        f"median {tally.minutes_median:.0f}, maximum {tally.minutes_most:.0f}",
        f"{tally.severe} in {tally.turns} turns, at most {tally.severe_most} per person{limit}",
    )


def _topic(tally: TopicTally) -> tuple[Value, ...]:
    title = f"{tally.topic.replace('-', ' ').replace('_', ' ')} ({tally.weight.value})"
    return title, f"{tally.n_people} of {tally.n_asked}", tally.n_not_offered, tally.n_free


def _languages(tallies: Sequence[LanguageTally]) -> str:
    known = [f"{tally.language} ({_sessions_text(tally)})" for tally in tallies if tally.language]
    if len(known) < 2:
        return ""
    unknown = "".join(f"; not known for {_sessions_text(tally)}" for tally in tallies if not tally.language)
    return f"People read the study in {', '.join(known)}{unknown}."


def _sessions_text(tally: LanguageTally) -> str:
    return f"{figures.number_of(tally.n_sessions, 'session')}, {figures.number_of(tally.n_dialogues, 'dialogue')}"


def withdrawal_text(tally: WithdrawalTally) -> str:
    """Return the count of withdrawals and their extent, as a sentence."""
    people = figures.number_of(tally.n_people, "person", "people")
    counts = {"session": tally.sessions, "dialogue": tally.dialogues, "answer": tally.answers}
    removed = ", ".join(figures.number_of(n, noun) for noun, n in counts.items())
    return f"{people} withdrew ({tally.kind.value}): {removed}."


def role_break_table(subject: Subject) -> Table | None:
    """Return one row for each rule on simulated users; None if no simulated user spoke."""
    checks = subject.findings.role_breaks
    if not checks:
        return None
    return Table(
        title="Role breaks of simulated users",
        columns=columns("Role break", "Definition", "Dialogues", "For example"),
        rows=tuple(_role_break_row(subject, number, check) for number, check in enumerate(checks)),
        style="failures",
    )


def _role_break_row(subject: Subject, number: int, check: RoleBreakCheck) -> tuple[Value | TableCell, ...]:
    first = next(iter(check.role_breaks), None)
    text = first.words if first else ""
    example = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    cases = [case.index for case in subject.labelled(check.dialogues())]
    opens = subject.sets.add(f"role_break{number}", f"simulated user: {check.kind.value}", cases)
    unread = unread_text(check)
    share = TableCell(value=figures.share(check.n_dialogues, check.n), opens=opens, details=(unread,) if unread else ())
    where = f"{first.dialogue}, turn {first.turn}: " if first else ""
    return check.kind.value, check.meaning, share, f"{where}{example}" if example else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealismBlock:
    """One scenario with dialogues of people and of simulated users.

    Attributes:
        scenario: Name of the scenario.
        about: Both sides with their number of dialogues.
        tables: Style and rates of both sides.
        groups: Sentences on the groups on each side.
    """

    scenario: str
    about: str
    tables: tuple[Table, ...]
    groups: tuple[str, ...]


def realism_blocks(subject: Subject) -> tuple[RealismBlock, ...]:
    """Return one block for each scenario with dialogues of people and of simulated users."""
    return tuple(_realism_block(subject, realism) for realism in subject.findings.realisms)


def _realism_block(subject: Subject, realism: Realism) -> RealismBlock:
    recorded = " Whether people wrote the recorded prompts is known only to those who recorded them."
    about = f"{_side_text(realism.people)}; {_side_text(realism.simulated)}."
    tables = (
        ("Length and style", tuple(_style_row(contrast) for contrast in realism.styles)),
        ("Defect rates", tuple(_rate_row(subject, contrast) for contrast in realism.rates)),
    )
    return RealismBlock(
        scenario=realism.people.scenario,
        about=about + (recorded if realism.people.held_by is TesterType.RECORDED else ""),
        tables=tuple(
            Table(
                title=f"{caption} in {realism.people.scenario}",
                caption=caption,
                columns=columns("Measure", "People", "Simulated users", "Difference"),
                rows=rows,
                style="groups contrasts",
            )
            for caption, rows in tables
            if rows
        ),
        groups=tuple(_cover(cover) for cover in realism.groups),
    )


def _side_text(side: SpokenSide) -> str:
    return f"{side.held_by.value}, {side.level.value}: {figures.number_of(side.n, 'dialogue')}"


def _style_row(contrast: StyleContrast) -> tuple[str, ...]:
    is_share = contrast.mark.is_share
    return (
        contrast.mark.value,
        _spread(contrast.people, is_share=is_share),
        _spread(contrast.simulated, is_share=is_share),
        _difference(contrast.difference, is_share=is_share),
    )


def _spread(spread: StyleSpread, *, is_share: bool) -> str:
    """Return the mean of a share, and of a count also median and quartiles, with interval and n."""
    mean = _mean(spread.mean, is_share=is_share)
    if is_share or spread.quartiles is None:
        return mean
    low, middle, high = (f"{value:.3g}" for value in spread.quartiles)
    return f"{mean}; median {middle}, quartiles {low} and {high}"


def _rate_row(subject: Subject, contrast: RateContrast) -> tuple[TableCell | Value, ...]:
    of = contrast.subject
    name = TableCell(
        value=f"{of.application}: {of.rule}",
        details=(f"{of.guideline}, by {title_of(subject.study, of.annotator)}",),
    )
    rates = (TableCell(value=rate, kind=ColumnKind.RATE) for rate in (contrast.people, contrast.simulated))
    return (name, *rates, _difference(contrast.difference, is_share=True))


def _mean(result: Estimate | Undefined, *, is_share: bool) -> str:
    if isinstance(result, Undefined):
        return undefined_text(result)
    is_share = is_share and result.n >= figures.FEW
    value = figures.percent(result.value) if is_share else f"{result.value:.3g}"
    return f"{value}{_interval(result, is_share=is_share)}, n = {figures.count(result.n)}"


def _difference(result: Estimate | Undefined, *, is_share: bool) -> str:
    if isinstance(result, Undefined):
        return undefined_text(result)
    is_share = is_share and result.n >= figures.FEW
    value = f"{100 * result.value:+.1f} points" if is_share else f"{result.value:+.3g}"
    return value + _interval(result, is_share=is_share)


def _interval(result: Estimate, *, is_share: bool) -> str:
    if result.low is None or result.high is None:
        return " (no interval)"
    low, high = (f"{100 * end:.1f}" if is_share else f"{end:.3g}" for end in (result.low, result.high))
    return f" ({low} to {high})"


def _cover(cover: GroupCover) -> str:
    sides = ((cover.both, "both"), (cover.people_only, "people only"), (cover.simulated_only, "simulated users only"))
    return f"{cover.name}: " + "; ".join(f"met by {side}: {', '.join(values) or 'none'}" for values, side in sides)
