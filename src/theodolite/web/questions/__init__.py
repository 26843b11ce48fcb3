"""The questions of an instrument on pages: form, page, and answers in words."""
