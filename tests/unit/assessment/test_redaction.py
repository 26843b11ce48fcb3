"""Overlays that hide words."""

from __future__ import annotations

import pytest
from tests.fakes.annotation_queue import a_dialogue
from tests.fakes.builders import dialogue, turn

from theodolite.assessment.redaction import (
    identifiers,
    mask_personal,
    personal_details,
    redacted,
    redactions_of,
    suspicions,
    words_of_danger,
)
from theodolite.domain.annotating.case import FlagKind, Redaction, TurnText
from theodolite.domain.errors import InputError
from theodolite.domain.run import Unit, UnitKind
from theodolite.domain.text import BLOCK

DIALOGUE = a_dialogue(Unit(key="a" * 64, kind=UnitKind.SESSION, work_key="w", position=0, label="d", application="b"))


def test_redaction_preserves_length_and_the_original_text():
    shown = redacted(DIALOGUE, redactions_of(DIALOGUE, "the tower"), "style")

    assert shown.turns[1].response == f"In {BLOCK * 9} he dies."
    assert len(shown.turns[1].response) == len(DIALOGUE.turns[1].response)
    assert "tower" in DIALOGUE.turns[1].response


def test_a_category_that_assesses_the_redacted_words_sees_them():
    hidden = redactions_of(DIALOGUE, "the tower", shown_in=("risk",))

    assert redacted(DIALOGUE, hidden, "risk") == DIALOGUE
    assert BLOCK in redacted(DIALOGUE, hidden, "style").turns[1].response


def test_every_redaction_is_found_on_both_sides():
    assert [(one.turn, one.side) for one in redactions_of(DIALOGUE, "e")][:1] == [(1, TurnText.PROMPT)]
    assert {one.side for one in redactions_of(DIALOGUE, "e")} == set(TurnText)


@pytest.mark.parametrize("words", ["", "no such words"])
def test_words_that_do_not_occur_are_refused(words):
    with pytest.raises(InputError):
        redactions_of(DIALOGUE, words)


def test_a_range_beyond_the_end_redacts_up_to_the_end():
    beyond = Redaction(turn=1, side=TurnText.PROMPT, start=4, end=999)

    assert redacted(DIALOGUE, [beyond], "x").turns[0].prompt == f"Who {BLOCK * 8}"


PROMPT = "Mail it to ana@example.org. I want to die."

TURN = turn(1, PROMPT, "I am GPT-4, made by OpenAI; call +49 30 901820.")


def test_each_kind_in_a_turn_gives_one_flag_without_the_words():
    found = suspicions(dialogue(TURN, turn(2, "Hi.", "Hello.")), ["bot-9"])

    assert [one.flag.kind for one in found] == [FlagKind.PII, FlagKind.SELF_IDENTIFICATION, FlagKind.WELLBEING]
    assert {(one.flag.turn, one.flag.by_detector, one.flag.words) for one in found} == {(1, True, "")}
    assert found[0].flag.note == "Looks like: e-mail address in the prompt, phone number in the response"
    assert not any(word in one.flag.note for one in found for word in ("ana", "GPT", "die"))


def test_personal_details_are_redacted_for_everybody_except_their_reviewers():
    held = dialogue(TURN)
    hidden = [one for found in suspicions(held, [], shown_in=("risk",)) for one in found.hidden]

    assert redacted(held, hidden, "style").turns[0].prompt == f"Mail it to {BLOCK * 15}. I want to die."
    assert redacted(held, hidden, "risk") == held


FOUND = {
    "mail me at ana.b+x@example.co.uk.": ("e-mail address", "ana.b+x@example.co.uk"),
    "call +49 30 901820 today": ("phone number", "+49 30 901820"),
    "call (415) 555-2671": ("phone number", "(415) 555-2671"),
    "card 4111 1111 1111 1111": ("payment card", "4111 1111 1111 1111"),
    "pay to DE89 3704 0044 0532 0130 00, please": ("bank account", "DE89 3704 0044 0532 0130 00"),
    "my number is 536-90-4399": ("national identity number", "536-90-4399"),
    "codice RSSMRA85T10A562S": ("national identity number", "RSSMRA85T10A562S"),
    "NIR 2 95 10 99 126 111 93": ("national identity number", "2 95 10 99 126 111 93"),
    "from 192.168.1.17 it works": ("IP address", "192.168.1.17"),
    "from 2001:db8::8a2e:370:7334": ("IP address", "2001:db8::8a2e:370:7334"),
}


@pytest.mark.parametrize("text", FOUND, ids=list(FOUND))
def test_personal_details_are_found_with_their_position(text: str) -> None:
    (detail,) = personal_details(text)

    assert (detail.kind.value, detail.words) == FOUND[text]
    assert text[detail.start : detail.end] == detail.words


@pytest.mark.parametrize(
    "text",
    [
        "card 4111 1111 1111 1112",
        "DE89 3704 0044 0532 0130 01",
        "on 2026-03-02 at 10:30:45",
        "for 1,234,567.89 dollars",
        "version 1.2.999.4",
        "a ratio of 12::30",
        "@home and user@localhost",
        "",
    ],
)
def test_lookalikes_of_personal_details_are_not_redacted(text: str) -> None:
    assert personal_details(text) == ()


def test_redaction_preserves_positions() -> None:
    text = "Ana, ana@example.org, 30 years"

    assert mask_personal(text) == f"Ana, {'•' * 15}, 30 years"
    assert len(mask_personal(text)) == len(text)


def test_foreign_telephone_numbers_are_found_with_their_country_code() -> None:
    assert personal_details("call 030 901820") == ()
    assert len(personal_details("call 030 901820", regions=("DE",))) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sometimes I want to die, really.", ("want to die",)),
        ("I keep hurting myself and my father hits me.", ("hurting myself", "my father hits me")),
        ("They are better off without me", ("better off without me",)),
        ("How many end their lives in the last episode?", ()),
        ("Who dies? I am dying to know.", ()),
        ("Kill the lights myself? No.", ()),
    ],
)
def test_self_descriptions_are_found(text, words):
    assert words_of_danger(text) == words


# Fifty identifiers of ten kinds in eight languages: the text, the identifier in it, and whether it is found.
# All are made up; numbers are published test numbers or satisfy the check digits only.
PLANTED: dict[str, list[tuple[str, str, bool]]] = {
    "e-mail address": [
        ("Write to ana.silva@example.org about it.", "ana.silva@example.org", True),
        ("Meine Adresse ist k.müller@beispiel.de.", "k.müller@beispiel.de", True),
        ("Écrivez-moi : jean+test@exemple.fr", "jean+test@exemple.fr", True),
        ("ana (at) example (dot) org", "ana (at) example (dot) org", False),
        ("mail: BOB@MAIL.EXAMPLE.COM", "BOB@MAIL.EXAMPLE.COM", True),
    ],
    "phone number": [
        ("Ruf mich an: +49 30 901820", "+49 30 901820", True),
        ("call me at (415) 555-2671", "(415) 555-2671", True),
        ("Mon numéro est le +33 1 42 68 53 00.", "+33 1 42 68 53 00", True),
        ("meine Nummer: 030 901820", "030 901820", False),
        ("mi número es +34 912 345 678", "+34 912 345 678", True),
    ],
    "bank account": [
        ("pay to DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00", True),
        ("IBAN GB82WEST12345698765432", "GB82WEST12345698765432", True),
        ("RIB : FR14 2004 1010 0505 0001 3M02 606", "FR14 2004 1010 0505 0001 3M02 606", True),
        ("mi cuenta es ES91 2100 0418 4502 0005 1332", "ES91 2100 0418 4502 0005 1332", True),
        ("iban nl91 abna 0417 1643 00", "nl91 abna 0417 1643 00", False),
    ],
    "payment card": [
        ("my card 4111 1111 1111 1111", "4111 1111 1111 1111", True),
        ("Karte 5500-0000-0000-0004", "5500-0000-0000-0004", True),
        ("carte 340000000000009", "340000000000009", True),
        ("tarjeta 6011000000000004", "6011000000000004", True),
        ("four one one one, then twelve ones", "four one one one, then twelve ones", False),
    ],
    "IP address": [
        ("from 192.168.1.17 it works", "192.168.1.17", True),
        ("meine IP ist 203.0.113.9", "203.0.113.9", True),
        ("2001:db8::8a2e:370:7334 est mon adresse", "2001:db8::8a2e:370:7334", True),
        ("it answered from 198.51.100.23:8080", "198.51.100.23", True),
        ("IP 203[.]0[.]113[.]9", "203[.]0[.]113[.]9", False),
    ],
    "web address with user data": [
        ("see https://example.org/profile/anasilva", "https://example.org/profile/anasilva", True),
        ("https://shop.example.com/?user=bob77&x=1", "https://shop.example.com/?user=bob77&x=1", True),
        ("mein Profil: www.facebook.com/k.mueller", "www.facebook.com/k.mueller", True),
        ("http://anna:secret@example.net/", "http://anna:secret@example.net/", True),
        ("https://blog.example.org/~kowalska", "https://blog.example.org/~kowalska", True),
    ],
    "street address": [
        ("I live at 12 Baker Street.", "12 Baker Street", True),
        ("Ich wohne in der Lindenstraße 5a.", "Lindenstraße 5a", True),
        ("J'habite 8 rue de la Paix.", "8 rue de la Paix", True),
        ("Vivo en la calle Mayor 10.", "calle Mayor 10", True),
        ("Mieszkam na ul. Długa 4", "ul. Długa 4", True),
    ],
    "person's name": [
        ("My name is Ana Silva and I need help.", "Ana Silva", True),
        ("Ich heiße Jürgen Müller.", "Jürgen Müller", True),
        ("Je m'appelle Zoé Lefèvre.", "Zoé Lefèvre", True),
        ("Me llamo José de la Cruz", "José de la Cruz", True),
        ("Tell Kowalski that I called.", "Kowalski", False),
    ],
    "date of birth": [
        ("I was born on 3 May 1980.", "3 May 1980", True),
        ("geboren am 03.05.1980", "03.05.1980", True),
        ("Née le 3 mai 1980", "3 mai 1980", True),
        ("fecha de nacimiento: 03/05/1980", "03/05/1980", True),
        ("I turned forty on the third of May", "the third of May", False),
    ],
    "national identity number": [
        ("my number is 536-90-4399", "536-90-4399", True),
        ("codice fiscale RSSMRA85T10A562S", "RSSMRA85T10A562S", True),
        ("NIR 2 95 10 99 126 111 93", "2 95 10 99 126 111 93", True),
        ("mój PESEL to 44051401458", "44051401458", True),
        ("my passport is 533380006", "533380006", False),
    ],
}

CASES = [(kind, *case) for kind, cases in PLANTED.items() for case in cases]


@pytest.mark.parametrize(
    ("kind", "text", "words", "is_found"), CASES, ids=[f"{k}-{i % 5}" for i, (k, *_) in enumerate(CASES)]
)
def test_planted_identifiers_are_found(kind: str, text: str, words: str, is_found: bool) -> None:
    hits = [one for one in identifiers(text) if one.kind.value == kind and one.words.rstrip(".") == words]

    assert bool(hits) is is_found


def test_the_table_in_the_documentation_matches() -> None:
    n_found = sum(is_found for *_, is_found in CASES)

    assert (len(PLANTED), len(CASES), n_found) == (10, 50, 42)


@pytest.mark.parametrize(
    "text",
    [
        "See https://example.org/docs/install for details.",
        "The show started on 3 May 1980.",
        "I like Baker Street in London.",
        "my name is not important",
        "https://linux.com/news about",
        "12 monkeys and 7 dwarfs",
        "",
    ],
)
def test_ordinary_words_are_not_found(text: str) -> None:
    assert identifiers(text) == ()
