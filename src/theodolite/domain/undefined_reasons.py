"""Reasons for undefined numbers: one table for results files, terminal, reports, pages and exports.

A reason is a sentence with a full stop; `undefined_text` makes it part of a line. Templates have named fields.
"""

from __future__ import annotations

from typing import Final

from theodolite.domain.findings.number import Undefined

UNDEFINED: Final = "undefined"
"""The word for a number without a value, if a line has no space for the reason."""

NO_DATA: Final = "no data"
"""The words for a node of a measurement tree without answers."""


def undefined_text(result: Undefined) -> str:
    """Return an undefined number with its reason, e.g. `undefined: none of 60 planned dialogues has a label`."""
    return f"{UNDEFINED}: {reason_text(result.reason)}"


def reason_text(reason: str) -> str:
    """Return a reason as part of a sentence: without full stop, and in lower case unless it starts with a name."""
    first = reason.partition(" ")[0]
    start = reason[:1].lower() if first.isalpha() and not first[1:].isupper() else reason[:1]
    return f"{start}{reason[1:]}".rstrip(".")


# Rates
NO_LABEL: Final = "No dialogue has a label, so there is no rate."
NOT_PLANNED: Final = "The plan has no dialogue to which this rule applies."
NONE_LABELLED: Final = "None of {planned} planned dialogues has a label: {outcomes}."
NO_ATTACK_LABELLED: Final = "None of {n} attacked dialogues has a label."
NO_RELEASE_SIGNS: Final = "The scenario has no signs of a release."
STRATEGY_WITHOUT_DIALOGUE: Final = "No dialogue with this strategy was completed."
NO_SUCH_DIALOGUE: Final = "There is no such dialogue."
NO_TASK_TRIED: Final = "No task was tried {k} times."
NO_RATE_OF_NAME: Final = "The run has no rate of this name."
NO_SCRIPT: Final = "No script."
NO_LIMIT: Final = "This gate limits no rate."
NOT_IN_BASELINE: Final = "The baseline has no such rate."

# Precision and budget
TOO_FEW_FOR_PRECISION: Final = "Fewer than {fewest} dialogues have a label."
NO_INTERVAL: Final = "The method gives no interval."
ONE_END: Final = "{which} a defect, so the interval has one end."
TOO_FEW_INDEPENDENT: Final = "The clustering leaves fewer than {fewest} independent dialogues."

# Agreement
NO_PAIR: Final = "No dialogue has a label from both annotators."
NO_SHARED_UNIT: Final = "No dialogue has labels from two annotators."
NO_READABLE_PAIR: Final = "No dialogue has readable labels from two annotators."
SAME_ANSWER: Final = "All labels are the same, so chance-corrected agreement is unknown: neither perfect nor poor."
FREE_TEXT: Final = "The answers to this question are free text."
ANNOTATOR_WITHOUT_LABELS: Final = "An annotator gave no label, so the chance level of that annotator is unknown."
TOO_FEW_ON_DAY: Final = "Fewer than {fewest} dialogues or turns have labels from two annotators."
TOO_MANY_PAIRS: Final = (
    "With more than ten people, chance-corrected agreement is computed for all together, not for pairs."
)
GROUP_TOO_SMALL: Final = "The group has too few annotators to distinguish a group effect from individual ones."
GROUP_WITHOUT_LABELS: Final = "The group gave no label."
GROUPS_WITHOUT_SHARED_UNIT: Final = "The group and the others have no labelled dialogue in common."
NO_TEST_ANSWER: Final = "The test has no answer."
NO_WRONG_TEST_ANSWER: Final = "No answer of the test can be wrong, so it cannot be corrected for guessing."
ONE_VOTE_EACH: Final = "No dialogue has two votes of the judge, so the stability of its verdicts is unknown."
TOO_FEW_VOTED: Final = "Fewer than two dialogues have votes, so the variation between dialogues is unknown."

# Correction of a judge by people
NO_VERDICT: Final = "The judge gave no verdict."
NO_DEFECT: Final = "People found no defect, so the sensitivity of the judge is unknown."
NO_NON_DEFECT: Final = "People labelled every dialogue as a defect, so the specificity of the judge is unknown."
VERDICT_UNLABELLED: Final = "No person has labelled a dialogue that the judge called `{verdict}`."
VERDICTS_UNLABELLED: Final = (
    "No person has labelled a dialogue that the judge called {verdicts}, so the defect rate there is unknown."
)
NO_BETTER_THAN_CHANCE: Final = (
    "The sum of sensitivity and specificity is at most 1, so the verdicts of the judge do not inform the rate."
)
CALIBRATION_DOES_NOT_FIT: Final = (
    "The calibration does not fit these dialogues: the judge called {flagged} a defect, {direction} than its {errors}"
    " in the calibration sample ({sample}) allow. Calibrate it on dialogues like these."
)
TOO_FEW_HUMAN_SCORES: Final = "Fewer than two {units} have a score from a person, so the bias of the judge is unknown."
STRATUM_UNSCORED: Final = "No person has scored a dialogue of one of the strata, so its mean is unknown."
NOT_SAMPLED: Final = (
    "The labelled dialogues are not a random sample, so they do not represent the others."
    " `theodolite label --sample` draws one."
)

# Scores, order and rankings
NO_SCORE: Final = "There is no score."
TOO_FEW_BOTH_SCORES: Final = "Fewer than three dialogues have both scores."
CONSTANT_SCORE: Final = "One of the two scores is constant, so there is no correlation."
TOO_FEW_SCORE_PAIRS: Final = "Fewer than two dialogues or clusters have both scores."
TOO_FEW_SCORES: Final = "Order metrics need {fewest} scores; there {n}."
NO_SCORE_RULE: Final = "No rule says which scores are defects."
EQUAL_SCORES: Final = "All scores are equal, so they have no order."
EQUAL_SCORES_OF: Final = "All scores of {side} are equal, so they have no order."
TOO_MANY_SCORES: Final = (
    "{n} scores are too many for enough random orders. Use rolling windows of at most {most}, or the test against"
    " trend."
)
TOO_MANY_TIES: Final = "{n} scores with many values and ties are too many for enough random orders."
TOO_FEW_RANKED: Final = "People and judge both scored {units}; a ranking needs {fewest}."

# Comparisons and tests
NO_CASE: Final = "No case has a result on both sides, so there is no pair to compare."
NO_VALUE_ON_A_SIDE: Final = "One of the two sides has no value."
DIFFERENT_UNITS: Final = "The two sides differ in unit or confidence."
TOO_FEW_TESTERS_OF_ALL: Final = "Fewer than two testers have a label for every application."
NO_DIFFERENCE: Final = "Every tester has the same labels for all applications, so there is no difference to test."
NO_DEFECT_RULE: Final = "No rule says which answers to this question are defects."
NO_DIALOGUE_OF_BOTH_VERSIONS: Final = "No dialogue has answers to both versions yet."
TOO_FEW_ANSWERS: Final = "A group has fewer than two answers."
ALL_EQUAL: Final = "All answers are the same, so there are no ranks to compare."
NO_CHANGE: Final = "No person's answer changed."
NO_OVERLAP: Final = "The groups do not overlap, or all answers are the same; use `rank_sum_test`."
TOO_FEW_COMPLETE: Final = "Fewer than two people answered for all conditions, or nobody's answers differ between them."
TOO_FEW_PEOPLE: Final = "A side has fewer than two people, and fewer than two people answered about both sides."
ONE_SIDE: Final = "All answers are about one side."
TOO_FEW_FOR_A_MODEL: Final = "Fewer than {fewest} testers, which is too few for a model."
ONE_POINT: Final = "All answers are at one point of the scale."
NO_CONVERGENCE: Final = "A factor determines the answer, or the search did not converge."
NO_GUESS: Final = "No tester has guessed."
TOO_FEW_GUESSES: Final = "Fewer than {fewest} guesses."
ONE_WAY: Final = "All answers so far have the same order."
TOO_FEW_EACH_WAY: Final = "Fewer than two dialogues have answers in each order."
NO_SPREAD: Final = "The answers are the same in each order, so their variation is unknown."

# People beside simulated users
TOO_FEW_VALUES: Final = "Fewer than two dialogues or clusters of dialogues have a value."
NO_DIALOGUE_OF_SIDE: Final = "No dialogue of this side is with the application."
DIFFERENT_APPLICATIONS: Final = (
    "Only one side used the application, so a difference could be a difference between applications."
)

# Risks
REVIEW_PENDING: Final = "Sessions with a sign of the risk await a review; a share without them would be too low."
UNGRADED: Final = "{n} materialised without a grade."

# Measurement trees
NO_ANSWERS_BELOW: Final = "No data: no answer is available below this node."
EMPTY_CHILDREN: Final = "No data: all children are empty or have the weight 0."
EMPTY_IN_CONTEXT: Final = "No data: its children are empty in this context."
VALUE_PER_ANSWER: Final = "The node has one value for each answer; the node above summarises them."
NOT_A_NUMBER: Final = "The value is a text, not a number."
TOO_FEW_CONTEXTS: Final = "Fewer than two contexts have a value from {fewest} dialogues or more."
TOO_FEW_GROUPS: Final = "Fewer than two groups have {fewest} labelled dialogues or more."
SHARED_VERDICTS: Final = "People who disagree count in parts, so groups have no whole counts."
NO_INTERVAL_IN_CONTEXT: Final = "At least one context has a value without an interval."
METHOD_WITHOUT_DATA: Final = "At least one method has no data here, so there is no difference."
SIDE_WITHOUT_DATA: Final = "{sides} data here, so there is no difference."
NO_VARIATION: Final = "One of the two does not vary."
TOO_FEW_WITH_BOTH: Final = "Only {n} dialogues have both."

# Pace of an event
NOTHING_LEFT: Final = "All planned sessions are completed."
TOO_SHORT_FOR_PACE: Final = "A forecast needs {fewest} days of data, because the pace differs between days."
TOO_FEW_COMPLETED: Final = "A forecast needs {fewest} completed sessions."
