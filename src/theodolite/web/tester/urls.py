"""Addresses of testers, below `/s/<study>/test/`: sessions, dialogues and turns by number, since they are one's own."""

from __future__ import annotations

from django.urls import path

from theodolite.web.tester import chat, context, entry, personal_data, questionnaires, session_page

app_name = "tester"
urlpatterns = [
    path("", context.home, name="home"),
    path("before/", entry.screening, name="screening"),
    path("not-this-time/", entry.screened_out, name="screened_out"),
    path("full/", entry.full, name="full"),
    path("topics/", entry.topics, name="topics"),
    path("nothing-left/", entry.spared, name="spared"),
    path("time/", entry.slot, name="slot"),
    path("consent/", entry.consent, name="consent"),
    path("you/", entry.profile, name="profile"),
    path("<int:place>/task/", session_page.instructions, name="instructions"),
    path("<int:place>/", chat.chat, name="chat"),
    path("<int:place>/state/", chat.state, name="state"),
    path("<int:place>/unsent/", session_page.unsent, name="unsent"),
    path("<int:place>/pause/", session_page.pause, name="pause"),
    path("<int:place>/resume/", session_page.resume, name="resume"),
    path("<int:place>/anew/", chat.anew, name="anew"),
    path("<int:place>/end/", chat.end, name="end"),
    path("<int:place>/questions/", questionnaires.first_open, name="questions"),
    path("<int:place>/questions/<int:number>/", questionnaires.questionnaire, name="questionnaire"),
    path("<int:place>/<int:dialogue>/say/", chat.say, name="say"),
    path("<int:place>/<int:dialogue>/notes/", chat.notes, name="notes"),
    path("<int:place>/<int:dialogue>/<int:turn>/", chat.reply, name="reply"),
    path("<int:place>/<int:dialogue>/<int:turn>/stop/", chat.stop, name="stop"),
    path("<int:place>/<int:dialogue>/<int:turn>/retry/", chat.retry, name="retry"),
    path("<int:place>/<int:dialogue>/<int:turn>/mark/", chat.mark, name="mark"),
    path("guess/", questionnaires.guess, name="guess"),
    path("done/", questionnaires.done, name="done"),
    path("mine/", personal_data.mine, name="mine"),
    path("mine/file/", personal_data.mine_as_file, name="mine_file"),
    path("leave/", personal_data.leave, name="leave"),
    path("left/", personal_data.left, name="left"),
]
