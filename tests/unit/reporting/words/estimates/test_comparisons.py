from dataclasses import replace

from tests.fakes.report import findings_named
from theodolite.reporting.words.estimates import (
    is_significant,
    leading,
    left_out_text,
    paired_difference_text,
    unsure_text,
)


def first():
    return leading(findings_named("xstest").comparisons[0])[0]


def test_a_rate_without_a_test_has_no_p_value():
    untested = replace(first(), test=None, adjusted=None)

    assert "(no test)" in paired_difference_text(untested)
    assert not is_significant(untested)


def test_the_reference_is_shown_first():
    assert {rate.ruling.subject.annotator for rate in leading(findings_named("xstest").comparisons[0])} == {"reference"}


def test_a_difference_whose_interval_excludes_0_is_not_called_insignificant_without_a_reason():
    """The report said `no significant difference` beside -27.3 points (-46.5 to -5.8), and no more."""
    corrected, untested = replace(first(), adjusted=0.094), replace(first(), test=None, adjusted=None)

    assert unsure_text(first()) == ""
    assert unsure_text(corrected) == " (after correction for all comparisons)"
    assert unsure_text(untested) == " (too few personas or scripts changed)"


def test_complete_pairs_report_no_exclusions():
    assert left_out_text(first()) == ""
    assert left_out_text(replace(first(), n_unpaired=2)) == "(2 dialogues have no pair)"
