"""The report as a page: views of the findings, and the data that the page browses."""
