"""The services for annotators: assignment, submission, review, calibration, training and agreement.

Pages and commands call these functions; the rules are in `rules`, and the rows in the repositories of `store`.
"""
