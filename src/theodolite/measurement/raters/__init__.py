"""Raters: whom people agree with, whose defects are seen, and who errs how."""
