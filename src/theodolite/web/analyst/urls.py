"""Addresses of this group, below `/s/<study>/analyse/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.analyst import codebook, coding, responses, reviews

app_name = "analyst"
urlpatterns = [
    path("", responses.responses, name="home"),
    path("coding/", coding.coding, name="coding"),
    path("coding/next/", coding.next_answer, name="next"),
    path("coding/answer/<slug:answer>/", coding.answer, name="answer"),
    path("coding/codebook/", codebook.codebook, name="codebook"),
    path("coding/codebook/new/", codebook.new_codebook, name="new_codebook"),
    path("coding/codebook/<slug:book>/", codebook.codebook, name="named_codebook"),
    path("coding/coders/", codebook.coders, name="coders"),
    path("coding/differing/", coding.disagreements, name="differing"),
    path("coding/differing/<slug:answer>/", coding.disagreement, name="difference"),
    path("coding/quotes/", coding.quotes, name="quotes"),
    path("coding/quotes/<slug:answer>/", coding.quote, name="quote"),
    path("both/", reviews.comparisons, name="settled"),
    path("both/<slug:session>/", reviews.comparison, name="both_sides"),
    path("reviews/", reviews.reviews, name="reviews"),
    path("reviews/<slug:due>/", reviews.review, name="review"),
]
