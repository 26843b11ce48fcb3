"""Addresses of testers, below `/s/<study>/test/`: sessions, dialogues and turns by number, since they are one's own."""

from __future__ import annotations

from django.urls import path

from theodolite.web.tester import (
    acts,
    chat,
    closing,
    consent,
    home,
    instructions,
    leaving,
    mine,
    pausing,
    questions,
    screening,
    slots,
    talking,
    topics,
    unsent,
)

app_name = "tester"
urlpatterns = [
    path("", home.home, name="home"),
    path("before/", screening.screening, name="screening"),
    path("not-this-time/", screening.screened_out, name="screened_out"),
    path("full/", screening.full, name="full"),
    path("topics/", topics.topics, name="topics"),
    path("nothing-left/", topics.spared, name="spared"),
    path("time/", slots.slot, name="slot"),
    path("consent/", consent.consent, name="consent"),
    path("you/", consent.profile, name="profile"),
    path("<int:place>/task/", instructions.instructions, name="instructions"),
    path("<int:place>/", chat.chat, name="chat"),
    path("<int:place>/state/", chat.state, name="state"),
    path("<int:place>/unsent/", unsent.unsent, name="unsent"),
    path("<int:place>/pause/", pausing.pause, name="pause"),
    path("<int:place>/resume/", pausing.resume, name="resume"),
    path("<int:place>/anew/", acts.anew, name="anew"),
    path("<int:place>/end/", acts.end, name="end"),
    path("<int:place>/questions/", questions.first_open, name="questions"),
    path("<int:place>/questions/<int:number>/", questions.page, name="questionnaire"),
    path("<int:place>/<int:dialogue>/say/", talking.say, name="say"),
    path("<int:place>/<int:dialogue>/notes/", acts.notes, name="notes"),
    path("<int:place>/<int:dialogue>/<int:turn>/", talking.reply, name="reply"),
    path("<int:place>/<int:dialogue>/<int:turn>/stop/", talking.stop, name="stop"),
    path("<int:place>/<int:dialogue>/<int:turn>/retry/", talking.retry, name="retry"),
    path("<int:place>/<int:dialogue>/<int:turn>/mark/", acts.mark, name="mark"),
    path("guess/", closing.guess, name="guess"),
    path("done/", closing.done, name="done"),
    path("mine/", mine.mine, name="mine"),
    path("mine/file/", mine.mine_as_file, name="mine_file"),
    path("leave/", leaving.leave, name="leave"),
    path("left/", leaving.left, name="left"),
]
