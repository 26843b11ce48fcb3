"""Addresses of this group, below `/s/<study>/analyse/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.analyst import beside, codebook, coders, coding, differing, quotes, responses, reviews

app_name = "analyst"
urlpatterns = [
    path("", responses.responses, name="home"),
    path("coding/", coding.coding, name="coding"),
    path("coding/next/", coding.next_answer, name="next"),
    path("coding/answer/<slug:answer>/", coding.answer, name="answer"),
    path("coding/codebook/", codebook.codebook, name="codebook"),
    path("coding/codebook/new/", codebook.new_codebook, name="new_codebook"),
    path("coding/codebook/<slug:book>/", codebook.codebook, name="named_codebook"),
    path("coding/coders/", coders.coders, name="coders"),
    path("coding/differing/", differing.differing, name="differing"),
    path("coding/differing/<slug:answer>/", differing.difference, name="difference"),
    path("coding/quotes/", quotes.quotes, name="quotes"),
    path("coding/quotes/<slug:answer>/", quotes.quote, name="quote"),
    path("both/", beside.settled, name="settled"),
    path("both/<slug:session>/", beside.both_sides, name="both_sides"),
    path("reviews/", reviews.reviews, name="reviews"),
    path("reviews/<slug:due>/", reviews.review, name="review"),
]
