import pytest

from tests.fakes.report import words
from theodolite.domain.errors import InputError
from theodolite.reporting.words.reading_aids import read_words

WANTED = {
    "zero_defects",
    "any_rate",
    "simulated_users",
    "interval",
    "few_personas",
    "failures",
    "unparseable",
    "judge_untried",
    "judge_tried",
    "pool_share",
    "agreement_undefined",
    "defect_rare",
    "difference_spans_zero",
    "not_comparable",
    "levels",
    "worst_of_several",
    "instrument_changed",
    "scripted",
}


def test_every_required_reading_aid_exists():
    assert set(words().aids) >= WANTED


def test_an_aid_is_filled_with_its_values():
    text = words().aid("zero_defects", zero=0, n=200, bound="1.5%")

    assert text.startswith("0 of 200 does not mean zero risk. With a true rate of 1.5%,")


def test_an_unknown_aid_lists_the_existing_ones():
    with pytest.raises(InputError, match="got `zero`; it has zero_defects"):
        words().aid("zero")


def test_a_missing_value_is_reported():
    with pytest.raises(InputError, match="needs the value 'bound'"):
        words().aid("zero_defects", zero=0, n=200)


def test_an_incomplete_text_file_is_refused():
    with pytest.raises(InputError, match="expected a words file"):
        read_words("aids: {}")


def test_each_term_is_explained_in_two_sentences():
    assert {term: text.count(".") for term, text in words().terms.items()} == dict.fromkeys(words().terms, 2)


def test_a_method_is_found_by_its_longest_matching_name():
    assert words().method("wilson, 450 units").startswith("Wilson score interval")
    assert words().method("sundial") == ""


def test_an_unlisted_measure_keeps_its_name():
    assert words().measure("no_such_measure").title == "No such measure"
