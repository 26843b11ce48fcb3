"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.senior import (
    agreement,
    dialogues,
    filling,
    gold,
    home,
    judges,
    many,
    people,
    quality,
    raters,
    resolution,
    sensitive,
    talk,
    views,
)

app_name = "senior"
urlpatterns = [
    path("", home.home, name="home"),
    path("item/<slug:item>/", resolution.resolution, name="resolution"),
    path("item/<slug:item>/begin/", resolution.begin, name="begin"),
    path("item/<slug:item>/resolve/", resolution.resolve, name="resolve"),
    path("item/<slug:item>/reopen/", resolution.reopen, name="reopen"),
    path("item/<slug:item>/room/", talk.open_room, name="open_room"),
    path("room/<slug:room>/", talk.room_step, name="room_step"),
    path("check/<slug:claim>/", quality.check, name="check"),
    path("check/<slug:claim>/judge/", quality.judge, name="judge"),
    path("questions/", talk.questions, name="questions"),
    path("questions/<slug:thread>/", talk.answer, name="thread"),
    path("cases/", sensitive.case_list, name="cases"),
    path("gold/", gold.gold_list, name="gold"),
    path("item/<slug:item>/gold/", gold.make, name="make_gold"),
    path("item/<slug:item>/gold/drop/", gold.drop, name="drop_gold"),
    path("case/<slug:case>/", sensitive.case, name="case"),
    path("case/<slug:case>/look/", sensitive.look, name="look"),
    path("case/<slug:case>/act/", sensitive.act, name="act"),
    path("dialogues/", dialogues.dialogues, name="dialogues"),
    path("dialogues/act/", many.act, name="act_on_many"),
    path("dialogues/batch/<slug:batch>/", many.batch, name="batch"),
    path("dialogues/batch/<slug:batch>/undo/", many.undo, name="undo_batch"),
    path("dialogues/views/", views.save, name="save_view"),
    path("dialogues/views/<slug:view>/", views.change, name="change_view"),
    path("fill/", filling.fill, name="fill"),
    path("agreement/", agreement.agreement, name="agreement"),
    path("judges/", judges.judges, name="judges"),
    path("judges/decide/", judges.decide, name="decide"),
    path("agreement/question/", raters.raters, name="raters"),
    path("people/", people.people, name="people"),
    path("people/admit/", people.admit, name="admit"),
]
