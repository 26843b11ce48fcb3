"""The studies of a series side by side; each study's own figures, and none of a second kind."""
