from __future__ import annotations

from dataclasses import replace

import pytest
from tests.contract.given import a_person_session, a_plan
from tests.fakes.codings import WORDS, index_of, noted
from tests.fakes.responses import AFTER, STUDY, said
from tests.fresh_stores import fresh_store

from theodolite.domain.coding import Code, Codebook, CodedState, OpenAnswer
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import digest, version_of
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.events.coding import (
    absent_coders,
    coding_project,
    notes_in,
    record_absence,
    release_quote,
    resolve_disagreement,
    save_codebook,
    save_coding,
)

CODES = (Code(name="vague", definition="Says nothing definite."), Code(name="cold", definition="Unkind."))
OTHER = (replace(STUDY.scenarios[0], packet=replace(STUDY.scenarios[0].packet, permitted=("Hours.",))),)
TEXTS = {"p": "Mail ana@example.org, said bot-7.", "q": "Rude! Rude to Ana."}


@pytest.fixture
def store():
    """A store in which two testers have written something."""
    made = fresh_store()
    run = made.open_run(STUDY, a_plan())
    for person, text in TEXTS.items():
        key = digest(person)
        made.events.sessions.add(a_person_session(run, key=key, participant=person, study=STUDY.name))
        given = QuestionnaireResponse(
            session=key,
            participant=person,
            questionnaire="after",
            instrument_version=version_of(AFTER),
            answers=(said("open", text),),
            submitted=True,
        )
        made.events.responses.add(given)
    return made


def room(store):
    return coding_project(store, STUDY, store.events.responses.in_study(STUDY.name))


def about(person):
    return OpenAnswer(session=digest(person), questionnaire="after", question="open")


def begin(store, codes=CODES, note="", follows=0, **facts):
    book = Codebook(study=STUDY.name, codes=tuple(codes), revision=follows, by="c1", note=note, **facts)
    return save_codebook(store, book)


def code(store, person, coder, *codes, memo=""):
    save_coding(store, room(store), about(person), coder, codes, memo)


def stands(store, person):
    return {one.answer: one.state for one in room(store).coded}[about(person)]


def test_answers_are_masked_and_assigned_to_two_coders_in_different_orders(store):
    begin(store)
    code(store, "p", "c1", "vague")
    code(store, "p", "c2", "vague")

    assert len(index_of(room(store)).waiting("c1")) == len(index_of(room(store)).waiting("c3")) == 1
    assert "ana@example.org" not in room(store).mask(TEXTS["p"])
    assert stands(store, "p") is CodedState.ALIKE


def test_coding_requires_a_codebook(store):
    assert index_of(room(store)).waiting("c1") == []
    with pytest.raises(InputError, match="no codebook"):
        code(store, "p", "c1")


def test_a_coding_may_be_changed_until_the_other_has_coded(store):
    begin(store)
    code(store, "p", "c1", "vague")
    code(store, "p", "c1", "cold", memo="on second thoughts")
    code(store, "p", "c2", "cold")

    with pytest.raises(Conflict, match="both coders have coded"):
        code(store, "p", "c1")
    assert room(store).work.own(about("p"), "c1").memo == "on second thoughts"


def test_a_changed_codebook_is_due_for_all_coders_and_stored_with_its_reason(store):
    begin(store)
    code(store, "p", "c1", "vague")
    more = (*CODES, Code(name="late", definition="Came late."))
    with pytest.raises(InputError, match="the change and its reason"):
        begin(store, more, follows=1)
    begin(store, more, note="Some speak of time.", follows=1)

    assert about("p") in index_of(room(store)).waiting("c1")
    assert [book.note for book in room(store).work.codebooks.values()] == ["", "Some speak of time."]


def test_disagreements_are_resolved_with_a_reason_and_codings_are_preserved(store):
    begin(store)
    code(store, "q", "c1", "cold")
    code(store, "q", "c2", "cold", "vague")
    with pytest.raises(InputError, match="enter a reason"):
        resolve_disagreement(store, room(store), about("q"), ["cold"], by="c1", rationale=" ")
    resolve_disagreement(store, room(store), about("q"), None, by="c3", rationale="It stays open.")
    resolve_disagreement(store, room(store), about("q"), ["cold"], by="c1", rationale="A complaint, not vague.")

    assert stands(store, "q") is CodedState.CONSENSUS
    assert [one.codes for one in room(store).work.codings] == [("cold",), ("vague", "cold")]
    assert [one.participants for one in room(store).work.resolutions] == [("c1", "c2")]


def test_only_disagreements_are_discussed(store):
    begin(store)

    with pytest.raises(Conflict, match="not coded yet"):
        resolve_disagreement(store, room(store), about("q"), None, by="c1", rationale="Why not.")


def test_codes_that_are_not_in_the_codebook_are_refused(store):
    begin(store)

    with pytest.raises(InputError, match="mean `cold`"):
        code(store, "p", "c1", "colt")


def test_a_released_quote_redacts_participant_names_everywhere(store):
    release_quote(store, room(store), about("q"), ["Ana", "Rude", "ude!"], by="c1")
    release_quote(store, room(store), about("p"), [], by="c1")
    quotes = {one.answer: one.text for one in room(store).work.quotes}

    assert quotes[about("q")] == "█" * 5 + " " + "█" * 4 + " to " + "█" * 3 + "."
    assert "ana@example.org" not in quotes[about("p")]


def test_permission_to_quote_can_be_withdrawn(store):
    release_quote(store, room(store), about("q"), [], by="c1")
    release_quote(store, room(store), about("q"), [], by="c1", is_given=False)

    assert room(store).work.quotes == ()


def test_words_that_do_not_occur_are_all_reported(store):
    with pytest.raises(InputError, match=r"'Bea', 'Cy'"):
        release_quote(store, room(store), about("q"), ["Ana", "Bea", "Cy"], by="c1")


def test_a_withdrawn_answer_is_not_coded(store):
    begin(store)

    with pytest.raises(InputError, match="withdrawn"):
        save_coding(store, room(store), replace(about("p"), question="other"), "c1", (), "")


def leave(store, coder, reason="Moved on.", *, is_away=True):
    record_absence(store, STUDY.name, coder, is_away=is_away, by="c9", reason=reason)


def test_outdated_codings_of_an_absent_coder_are_reassigned(store):
    begin(store)
    code(store, "p", "c1", "vague")
    code(store, "p", "c2", "vague")
    leave(store, "c1")
    kept = (stands(store, "p"), index_of(room(store)).waiting("c3"))
    begin(store, (*CODES, Code(name="late", definition="Came late.")), note="Time.", follows=1)
    code(store, "p", "c3", "late")
    code(store, "p", "c2", "late")

    assert kept == (CodedState.ALIKE, [about("q")])
    assert [(one.coder, one.codes) for one in room(store).work.codings] == [("c3", ("late",)), ("c2", ("late",))]
    assert stands(store, "p") is CodedState.ALIKE


def test_an_absent_coder_receives_and_codes_nothing_until_they_return(store):
    begin(store)
    leave(store, "c1")

    assert index_of(room(store)).waiting("c1") == []
    with pytest.raises(Conflict, match="having left"):
        code(store, "p", "c1")
    leave(store, "c1", "Back again.", is_away=False)
    assert len(index_of(room(store)).waiting("c1")) == 2


def test_a_removed_coder_counts_as_absent(store):
    begin(store)

    gone = coding_project(store, STUDY, store.events.responses.in_study(STUDY.name), ["c1"])
    assert (index_of(gone).waiting("c1"), len(index_of(gone).waiting("c2"))) == ([], 2)


def test_notes_of_red_teamers_are_coded_like_answers(store):
    tried = notes_in(STUDY, [noted(STUDY), noted(replace(STUDY, scenarios=OTHER), person="q")])
    begin(store, covers=("notes while testing.tried",), name="ways")
    found = coding_project(store, STUDY, tried)

    assert index_of(found).places == ("notes while testing.tried",)
    assert [one.asked for one in found.texts] == ["What was tried, how was it refined, and what came of it?"]
    assert [one.text for one in found.texts] == [WORDS]
    assert len(index_of(found).waiting("c1")) == 1


BOOK = Codebook(study=STUDY.name, codes=(Code(name="vague", definition="Says nothing definite."),), revision=0)
REVISED = replace(BOOK, codes=(Code(name="cold", definition="Unkind."),), revision=1, note="Fewer, clearer.")


def test_concurrent_edits_of_a_codebook_do_not_overwrite_each_other():
    store = fresh_store()
    kept = save_codebook(store, BOOK)

    with pytest.raises(Conflict, match="meanwhile"):
        save_codebook(store, replace(REVISED, revision=0))
    with pytest.raises(InputError, match="has not changed"):
        save_codebook(store, kept)
    assert save_codebook(store, REVISED).revision == 2


def test_codebooks_of_different_names_have_separate_revisions():
    store = fresh_store()
    save_codebook(store, BOOK)
    own = save_codebook(store, replace(BOOK, name="ways", covers=("after.open",)))

    assert own.revision == 1
    assert save_codebook(store, REVISED).revision == 2


def test_a_question_has_one_codebook():
    store = fresh_store()
    save_codebook(store, replace(BOOK, name="ways", covers=("after.open",)))

    with pytest.raises(InputError, match=r"`after\.open` \(`ways`\)"):
        save_codebook(store, replace(BOOK, name="means", covers=("after.open", "after.more")))


def test_an_absence_needs_a_reason_and_is_recorded_once():
    store = fresh_store()
    with pytest.raises(InputError, match="enter a reason"):
        record_absence(store, "s", "c1", is_away=True, by="c2", reason=" ")
    for is_away in (True, False, True):
        record_absence(store, "s", "c1", is_away=is_away, by="c2", reason="As told.")

    with pytest.raises(InputError, match="already recorded"):
        record_absence(store, "s", "c1", is_away=True, by="c2", reason="As told.")
    assert absent_coders(store, "s") == {"c1"}
