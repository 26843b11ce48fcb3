from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.overview import findings_of, tags_of, tiles_of
from theodolite.reporting.page.review import chips_of
from theodolite.reporting.page.subject import subject_of


def subject(name):
    made = subject_of(evidence_named(name), findings_named(name), facts(), words())
    chips_of(made)
    return made


def tile_texts(name):
    return [
        (tile.label, tile.value or tile.status, [note.text for note in tile.notes]) for tile in tiles_of(subject(name))
    ]


def test_tiles_show_dialogues_completeness_agreement_and_the_judge():
    assert tile_texts("xstest") == [
        ("Dialogues", "2,250", ["0 failed"]),
        ("Completeness", "100.0%", ["labelled", "11 with an unparseable label"]),
        ("Human agreement", "93.8 to 98.4%", ["people agree on 422 to 443 of 450"]),
        ("Judge GPT-4", "Not validated", ["agrees on 333 to 421 of 450 final labels"]),
    ]


def test_completeness_over_several_guidelines_names_what_it_counts():
    """An event said `0 of 36 labelled` beside rates of dialogues that people had labelled under another guideline."""
    made = subject("unfinished")
    (account,) = made.accounts
    _, tile, *_ = tiles_of(replace(made, accounts=(account, account)))

    assert [note.text for note in tile.notes[:2]] == [
        "labelled under all 2 guidelines",
        "53 without a label under at least one",
    ]


def test_a_study_without_people_has_a_tile_for_its_calls():
    assert [label for label, _, _ in tile_texts("live")] == [
        "Dialogues",
        "Completeness",
        "Judge grounded",
        "Model calls",
    ]


def test_an_unfinished_run_is_marked_by_its_first_tag():
    first, *_ = tags_of(subject("unfinished"))

    assert first.attention
    assert first.text.startswith("Run 1 not finished")


def test_the_two_sides_of_a_guardrail_are_shown_with_their_counts():
    (text,) = findings_of(subject("xstest"))

    assert "llama2orig: 95 of 250 (38.0%) permitted content withheld, 0 of 200 (0.0%)" in text
    assert "mistralinstruct: 2 of 250 (0.8%) permitted content withheld, 128 of 200 (64.0%)" in text


def test_without_two_sides_there_is_no_guardrail_statement():
    assert findings_of(subject("live")) == ()
