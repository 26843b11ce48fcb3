from __future__ import annotations

import pytest

from theodolite.assessment.capture.identifiers import identifiers

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
def test_planted_identifiers(kind: str, text: str, words: str, is_found: bool) -> None:
    hits = [one for one in identifiers(text) if one.kind.value == kind and one.words.rstrip(".") == words]

    assert bool(hits) is is_found


def test_the_table_in_the_documents_agrees() -> None:
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
def test_plain_words_are_not_found(text: str) -> None:
    assert identifiers(text) == ()
