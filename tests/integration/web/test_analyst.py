"""Pages of analysts, without a browser."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest

from tests.fakes.codings import index_of
from tests.fakes.read_event import (
    a_case_about,
    a_disputed_answer,
    a_named_codebook,
    a_session_to_review,
    a_settled_session,
    add_step,
    desk_of,
    let_annotators_wait,
    let_two_label,
)
from theodolite.annotation.comparisons import (
    annotations_about,
    comparison_counts,
    settled_keys,
    settled_sessions,
)
from theodolite.annotation.review import waiting_items
from theodolite.demo.event import load_combined_review
from theodolite.domain.annotating.case import CaseAct
from theodolite.domain.coding import CodedState
from theodolite.domain.event import Role
from theodolite.domain.event_record import BlindingGuess, GuessedThing
from theodolite.events.results import current_responses, leaks, response_counts
from theodolite.measurement.probes import leaks_of
from theodolite.measurement.study.risks import COMBINED, risk_findings
from theodolite.reporting.results.testers import risk_entry
from theodolite.web.analyst import coding, responses, reviews
from theodolite.web.models import AuditEntry, Membership

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

NAMES = ("careful-toy", "leaky-toy")


def at(event, path=""):
    return f"/s/{event.token}/analyse/{path}"


def words(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_responses_are_compared_in_charts_with_tests(event, client_as):
    page = client_as(Role.ANALYST).get(at(event), {"questionnaire": "tv-spoilers-field-testing"})

    told = words(page)
    assert "20 responses of 10 testers in field testing" in told
    assert "n 10, median 1, quartiles 1 and 1" in told
    assert "compared within testers" in told
    assert 'aria-label="1: 8, 2: 2, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0"' in page.content.decode()


@pytest.mark.parametrize(
    ("by", "expected"), [("age", "Brunner-Munzel"), ("level", "field testing"), ("scenario", "tv-spoilers")]
)
def test_responses_are_split_by_the_chosen_variable(event, client_as, by, expected):
    told = words(client_as(Role.SENIOR).get(at(event), {"questionnaire": "tv-spoilers-field-testing", "by": by}))

    assert expected in told


def test_a_model_of_all_responses_is_shown_with_the_tests_on_request(event, client_as):
    asked = {"questionnaire": "tv-spoilers-field-testing"}
    plain, modelled = (
        words(client_as(Role.ANALYST).get(at(event), asked | more)) for more in ({}, {"model": "ordinal"})
    )

    assert "Odds of a higher answer" not in plain
    assert re.search(
        r"Odds of a higher answer: 0\.\d\d times \(.+ with leaky-toy as with careful-toy, 20 answers", modelled
    )


def test_small_groups_of_testers_are_counted_and_not_shown(event, client_as):
    told = words(client_as(Role.ANALYST).get(at(event), {"questionnaire": "tv-spoilers-red-teaming", "by": "age"}))

    assert "too few testers to tell" in told
    assert "median" not in told.split("not submitted")[0].split("Testers' answers")[-1].split("40 and over")[-1]


def test_annotators_and_testers_never_read_results_despite_other_roles(event, client_as):
    for role in (Role.ANNOTATOR, Role.FIELD_TESTER):
        analyst = event.memberships.get(role=Role.ANALYST.value)
        other = Membership.objects.create(account=analyst.account, hosted=event, role=role.value)

        assert client_as(Role.ANALYST).get(at(event)).status_code == 403
        other.delete()
    assert client_as(Role.ANALYST).get(at(event)).status_code == 200


def test_coders_see_neither_the_application_nor_codings_of_others(event, client_as):
    told = words(client_as(Role.ORGANISER).get(at(event, "coding/next/"), follow=True))

    assert "Code an answer" in told
    assert not any(name in told for name in NAMES)


def test_after_a_coding_the_next_answer_opens(event, client_as):
    client = client_as(Role.ANALYST)
    first = client.get(at(event, "coding/next/")).url
    code = re.findall(r'name="code" value="([^"]+)"', client.get(first).content.decode())[0]
    client.post(first, {"code": [code], "memo": "Short."})
    second = client.get(at(event, "coding/next/")).url
    kept = [one for one in desk_of(event).coding_project().work.codings if one.memo == "Short."]

    assert second != first
    assert [one.codes for one in kept] == [(code,)]
    assert AuditEntry.objects.filter(verb="coded an answer").count() == 1


def test_an_answer_with_two_codings_is_not_assigned_again(event):
    desk = desk_of(event)
    room = desk.coding_project()
    full = {one.answer for one in room.coded if one.is_coded}

    assert full
    assert not full & set(desk.coding_index().waiting("somebody else"))


def test_a_new_codebook_lists_its_changes_and_the_answers_to_code(event, client_as):
    client = client_as(Role.SENIOR)
    fields = {"name": ["helpful", "brief"], "definition": ["It helped.", "Speaks of length."], "place": ["2", "1"]}
    refused = client.post(at(event, "coding/codebook/"), {**fields, "follows": "1"})
    client.post(at(event, "coding/codebook/"), {**fields, "follows": "1", "note": "Fewer codes."})
    room = desk_of(event, Role.SENIOR).coding_project()

    assert refused.status_code == 422
    assert "the change and its reason" in words(refused)
    book = room.work.current[""]
    assert (book.names, book.note) == (("brief", "helpful"), "Fewer codes.")
    assert {one.state for one in room.coded if one.answer.question == "open"} == {CodedState.UNCODED}
    assert "The codebook has changed since" in words(client.get(at(event, "coding/next/"), follow=True))


NEW = {"book": "  tones ", "name": "cold", "definition": "Unkind.", "covers": "tv-spoilers-field-testing.open"}


def test_questions_can_have_their_own_codebook(event, client_as):
    client = client_as(Role.ANALYST)
    refused = client.post(at(event, "coding/codebook/new/"), NEW | {"book": " "})
    client.post(at(event, "coding/codebook/new/"), NEW)
    room = desk_of(event).coding_project()
    told = words(client.get(at(event, "coding/")))

    assert refused.status_code == 422
    assert room.work.codebook_for("tv-spoilers-field-testing.open").name == "tones"
    assert room.work.codebook_for("tv-spoilers-red-teaming.open").name == ""
    assert "codebook tones, revision 1" in told
    assert "Another codebook is for" in words(client.post(at(event, "coding/codebook/new/"), NEW | {"book": "more"}))


def test_a_codebook_for_some_questions_is_revised_with_its_questions(event, client_as):
    client, token = client_as(Role.SENIOR), a_named_codebook(event)
    page = client.get(at(event, f"coding/codebook/{token}/"))
    written = NEW | {"follows": "1", "note": "Fewer.", "covers": ["notes while testing.tried"]}
    client.post(at(event, f"coding/codebook/{token}/"), written)

    assert 'value="notes while testing.tried" checked' in page.content.decode()
    assert desk_of(event).coding_project().work.current["ways of attack"].names == ("cold",)
    assert client.get(at(event, "coding/codebook/nowhere/")).status_code == 404


def test_notes_of_red_teamers_are_coded_like_their_answers(event, client_as):
    told = words(client_as(Role.ANALYST).get(at(event, "coding/")))

    assert "What was tried, how was it refined, and what came of it?" in told
    assert "notes while testing, codebook ways of attack, revision 1" in told


def test_a_coder_who_left_is_replaced_for_missing_codings(event, client_as):
    analyst, organiser = client_as(Role.ANALYST), client_as(Role.ORGANISER)
    page = analyst.get(at(event, "coding/coders/"))
    token = desk_of(event).token_of("coder", desk_of(event).reader)
    before = len(desk_of(event).coding_index().waiting(desk_of(event, Role.ORGANISER).reader))
    analyst.post(at(event, "coding/coders/"), {"coder": token, "now": "away", "reason": "Moved on."})
    organiser.post(at(event, "coding/codebook/"), {**NEW, "follows": "1", "note": "One code alone."})
    index, reader = desk_of(event).coding_index(), desk_of(event, Role.ORGANISER).reader

    assert "Agreement by pair" in words(page)
    assert index.waiting(desk_of(event).reader) == []
    assert len(index.waiting(reader)) > before
    assert "having left" in words(analyst.get(at(event, "coding/")))


def test_concurrent_edits_do_not_overwrite_each_other(event, client_as):
    page = client_as(Role.ANALYST).post(at(event, "coding/codebook/"), {"name": "x", "definition": "y", "follows": "0"})

    assert page.status_code == 422
    assert "meanwhile" in words(page)


@pytest.mark.parametrize(
    ("found", "state"), [("consensus", CodedState.CONSENSUS), ("none", CodedState.NO_CONSENSUS)], ids=str
)
def test_a_disagreement_is_resolved_or_left_open_and_codings_stay(event, client_as, found, state):
    client, token = client_as(Role.ORGANISER), a_disputed_answer(event)
    before = desk_of(event).coding_project().work.codings
    page = words(client.get(at(event, f"coding/disagreements/{token}/")))
    client.post(
        at(event, f"coding/disagreements/{token}/"),
        {"found": found, "code": "helpful", "rationale": "We read it again."},
    )
    room = desk_of(event).coding_project()
    (stands,) = (one for one in room.coded if desk_of(event).token_of_answer(one.answer) == token)

    assert " A " in page
    assert not any(name in page for name in NAMES)
    assert (stands.state, room.work.codings) == (state, before)


def test_a_decision_needs_a_reason(event, client_as):
    token = a_disputed_answer(event)
    page = client_as(Role.ORGANISER).post(
        at(event, f"coding/disagreements/{token}/"), {"found": "none", "rationale": " "}, follow=True
    )

    assert "enter a reason" in words(page)


def test_quotes_are_shown_only_with_permission(event, client_as):
    client, token = client_as(Role.ANALYST), a_disputed_answer(event)
    text = desk_of(event).project_about(token)[1].text
    before = words(client.get(at(event, "coding/")))
    client.post(at(event, f"coding/quotes/{token}/"), {"leave": "give", "hidden": text[:4]})
    shown = words(client.get(at(event, "coding/")))
    client.post(at(event, f"coding/quotes/{token}/"), {"leave": "take"})
    after = words(client.get(at(event, "coding/")))

    assert "my club" not in before
    assert [text[4:] in told for told in (before, shown, after)] == [False, True, False]
    assert f"████{text[4:]}" in shown


def test_a_session_is_read_with_its_answers_and_recorded(event, client_as):
    client, token = client_as(Role.ANALYST), a_session_to_review(event)
    page = words(client.get(at(event, f"reviews/{token}/")))
    refused = client.post(at(event, f"reviews/{token}/"), {"materialised": "yes"})
    client.post(
        at(event, f"reviews/{token}/"),
        {"materialised": "yes", "magnitude": "7", "impact": "negative", "rationale": "They read the end."},
    )
    records = [one for found in risk_findings(desk_of(event).evidence()) for one in found.materialised]
    (record,) = (one for one in records if one.shown_by == COMBINED)

    assert "What it said helped me with my task." in page
    assert not any(name in page for name in NAMES)
    assert refused.status_code == 422
    assert (record.magnitude, record.impact.value) == (7, "negative")


def test_each_risk_lists_the_answers_that_identify_it(event, client_as):
    told = words(client_as(Role.ORGANISER).get(at(event, "reviews/")))

    assert "is at least 5, or annotators of dialogues, by" in told
    assert "I would rather not have read some of what it said about the plot. 6" in told
    assert "Nobody has looked at 10 dialogues yet" in told
    assert "questionnaire: tv-spoilers-field-testing.helpful" in told
    assert "5 sessions still to be reviewed" in told


def test_each_method_of_identification_creates_records_in_the_results(event, client_as):
    let_two_label(event)
    for _ in range(2):
        load_combined_review(event)
    evidence = desk_of(event).evidence()
    entries = [risk_entry(found) for found in risk_findings(evidence)]
    records = {
        (one["risk"], record["shown_by"], len(record["by"])) for one in entries for record in one["materialised"]
    }
    told = words(client_as(Role.SENIOR).get(at(event, "reviews/")))

    assert ("no-help", "tv-spoilers-field-testing.helpful <= 3", 0) in records
    assert {("plot-released", "risk-assessment.released", n) for n in (1, 2)} < records
    assert ("unwanted-plot", COMBINED, 1) in records
    assert "In 4 of 6 dialogues 4 more that nobody has looked at" in told
    assert "annotation: risk-assessment.released, by 1 annotator" in told


def test_both_views_of_a_session_open_after_all_annotations(event, client_as):
    client = client_as(Role.ANALYST)
    before = words(client.get(at(event, "sessions/")))
    let_two_label(event)
    listed = client.get(at(event, "sessions/"))
    (token, *_) = re.findall(r"sessions/(\w+)/", listed.content.decode())
    sheet = words(client.get(at(event, f"sessions/{token}/")))
    let_annotators_wait(event)

    assert "No sessions yet" in before
    assert "6 sessions" in words(listed)
    assert "What it said helped me with my task." in sheet
    assert re.search(r"A: (Yes|No)", sheet)
    assert "No sessions yet" in words(client.get(at(event, "sessions/")))
    assert client.get(at(event, f"sessions/{token}/")).status_code == 404


def test_pages_read_the_same_responses_and_annotations_as_a_measurement(event):
    let_two_label(event)
    desk = desk_of(event)
    study, run, evidence = desk.study, desk.event.run, desk.evidence()
    labelled = defaultdict(list)
    for annotation in evidence.archive.annotations():
        labelled[annotation.dialogue].append(annotation)
    answered = {one.session: one for one in evidence.responses if one.submitted and one.dialogues}
    by_people = {key for key, found in labelled.items() if any(not one.unit for one in found)}
    waiting = set(waiting_items(study.name).values_list("dialogue__unit__key", flat=True))
    settled = [key for key, one in answered.items() if set(one.dialogues) <= by_people - waiting]
    read = settled_sessions(study, run, start=0, size=100)

    assert tuple(current_responses(desk.store, study)) == evidence.responses
    assert response_counts(desk.store, study) == Counter(one.questionnaire for one in evidence.responses)
    assert [one.key for one in read] == settled_keys(study, run) == settled
    assert comparison_counts(study, run) == (6, len(answered) - 6)
    assert [one.key for one in settled_sessions(study, run, start=4, size=3)] == settled[4:]
    for one in read:
        keys = answered[one.key].dialogues
        known = {key: labelled[key] for key in keys}
        found = annotations_about(study, run, keys)
        assert {key: sorted(map(repr, values)) for key, values in found.items()} == {
            key: sorted(map(repr, values)) for key, values in known.items()
        }
        everything = [annotation for values in known.values() for annotation in values]
        assert one.n_annotations == len(everything)
        assert one.n_categories == len({annotation.guideline for annotation in everything})


def test_the_index_of_open_answers_has_the_same_lines_and_states_as_their_measurement(event):
    desk = desk_of(event)
    project, index = desk.coding_project(), desk.coding_index()
    counted = index.due_by_coder()

    assert sorted(map(repr, index.lines)) == sorted(map(repr, index_of(project).lines))
    assert Counter(index.states()) == Counter(one.state for one in project.coded)
    assert {CodedState.ALIKE, CodedState.CONSENSUS, CodedState.UNCODED} <= set(index.states())
    assert {coder: counts.total() for coder, counts in counted.items()} == Counter(
        one.coder for one in project.work.codings
    )
    for coder in (desk.reader, "somebody else"):
        waiting = index.waiting(coder)
        assert set(waiting) == {one.answer for one in project.texts if project.work.waits(one.answer, coder)}
        assert len(waiting) == len(set(waiting))


def test_part_of_a_project_has_the_same_texts_codings_and_quotes_as_the_whole(event):
    desk = desk_of(event)
    whole = desk.coding_project()
    chosen = [one.answer for one in whole.texts][::3]
    part, sessions = desk.project_of(chosen), {one.session for one in chosen}

    assert {one.answer for one in part.texts} >= set(chosen)
    assert part.texts == tuple(one for one in whole.texts if one.answer.session in sessions)
    assert part.work.codings == tuple(one for one in whole.work.codings if one.answer.session in sessions)
    assert part.work.quotes == tuple(one for one in whole.work.quotes if one.answer.session in sessions)


@pytest.mark.parametrize("path", ["coding/quotes/", "coding/disagreements/", "reviews/"])
def test_pages_of_a_list_show_each_row_once_and_none_twice(event, client_as, monkeypatch, path):
    client, linked = client_as(Role.ANALYST), rf'href="[^"]*{path}(\w+)/"'
    whole = re.findall(linked, client.get(at(event, path)).content.decode())
    for module in (coding, reviews):
        monkeypatch.setattr(module, "PAGE", 2)
    read, number, more = [], 1, True
    while more:
        page = client.get(at(event, path), {"page": number}).content.decode()
        read, number, more = [*read, *re.findall(linked, page)], number + 1, 'rel="next"' in page

    assert len(whole) >= 3
    assert read == whole
    assert len(set(read)) == len(read)


def test_a_large_study_shows_new_codes_at_once_and_figures_with_their_time(event, client_as, monkeypatch):
    monkeypatch.setattr(responses, "MOST_IN_REQUEST", 0)
    monkeypatch.setattr(responses, "_large_pages", {})
    client, desk = client_as(Role.ANALYST), desk_of(event)
    before = len(desk.coding_index().waiting(desk.reader))
    first = client.get(at(event, "coding/next/")).url
    pending = words(client.get(at(event, "coding/")))
    code = re.findall(r'name="code" value="([^"]+)"', client.get(first).content.decode())[0]
    client.post(first, {"code": [code], "memo": ""})
    index = desk.coding_index()
    responses.refresh_large_pages()
    computed = words(client.get(at(event, "coding/")))

    assert "The server is computing these figures" in pending
    assert len(index.waiting(desk.reader)) == before - 1
    assert Counter(index.states()) == Counter(one.state for one in desk.coding_project().coded)
    assert "The server is computing" not in computed
    assert "As of" in computed


def test_a_review_in_a_large_study_leaves_the_list_at_once(event, client_as, monkeypatch):
    monkeypatch.setattr(responses, "MOST_IN_REQUEST", 0)
    monkeypatch.setattr(responses, "_large_pages", {})
    client, path = client_as(Role.ANALYST), at(event, "reviews/")
    pending = words(client.get(path))
    responses.refresh_large_pages()
    listed = re.findall(r"reviews/(\w+)/", client.get(path).content.decode())
    client.post(f"{path}{listed[0]}/", {"materialised": "no", "rationale": "Misread.", "magnitude": "", "impact": ""})
    after = client.get(path).content.decode()
    still_open = re.findall(r"reviews/(\w+)/", after.split("Reviewed")[0])

    assert "The server is computing these figures" in pending
    assert still_open == listed[1:]
    assert f"reviews/{listed[0]}/" in after


def test_the_evidence_about_a_session_decides_on_its_review_as_a_measurement_does(event):
    let_two_label(event)
    desk = desk_of(event)
    whole = {(finding.risk.name, session) for finding in risk_findings(desk.evidence()) for session in finding.pending}
    sessions = {one.session for one in desk.responses()}
    alone = {
        (finding.risk.name, session)
        for key in sessions
        for finding in risk_findings(desk.evidence_about(key))
        for session in finding.pending
    }

    assert alone == whole
    assert 0 < len({session for _, session in whole}) < len(sessions)


def test_blinding_reads_guessed_sessions_alone_with_the_same_result(event):
    context = desk_of(event).event
    name = context.study.name
    for session in context.sessions.in_study(name)[:7]:
        options = tuple(application.name for application in context.study.applications)
        asked = {"about": GuessedThing.APPLICATION, "options": options, "at": context.clock.now()}
        context.responses.add_guess(BlindingGuess(session=session.key, guess=options[0], **asked))
    guesses = context.responses.guesses(name)

    assert sum(one.rate.n for one in leaks(context) if one.level is None) > 1
    assert leaks(context) == leaks_of(guesses, context.sessions.in_study(name))


def test_texts_hidden_or_restricted_by_a_case_are_not_shown(event, client_as):
    let_two_label(event)
    client, token = client_as(Role.ANALYST), a_settled_session(event)
    case = a_case_about(event, token, hidden=(0, 4))
    hidden = words(client.get(at(event, f"sessions/{token}/")))
    add_step(case, CaseAct.RESTRICTED)
    restricted = words(client.get(at(event, f"sessions/{token}/")))

    assert "████" in hidden
    assert "restricted until its case is closed" in restricted
    assert "████" not in restricted
