"""Addresses of this group, below `/s/<study>/`."""

from __future__ import annotations

from django.urls import path

from theodolite.web.senior import agreement, annotators, bulk_actions, cases, dialogues, home, review, threads

app_name = "senior"
urlpatterns = [
    path("", home.home, name="home"),
    path("item/<slug:item>/", review.resolution, name="resolution"),
    path("item/<slug:item>/begin/", review.begin, name="begin"),
    path("item/<slug:item>/resolve/", review.resolve, name="resolve"),
    path("item/<slug:item>/reopen/", review.reopen, name="reopen"),
    path("item/<slug:item>/room/", threads.open_room, name="open_room"),
    path("room/<slug:room>/", threads.room_step, name="room_step"),
    path("check/<slug:reservation>/", review.check, name="check"),
    path("check/<slug:reservation>/judge/", review.judge, name="judge"),
    path("questions/", threads.questions, name="questions"),
    path("questions/<slug:thread>/", threads.answer, name="thread"),
    path("cases/", cases.case_list, name="cases"),
    path("gold/", review.gold_list, name="gold"),
    path("item/<slug:item>/gold/", review.make, name="make_gold"),
    path("item/<slug:item>/gold/drop/", review.drop, name="drop_gold"),
    path("case/<slug:case>/", cases.case, name="case"),
    path("case/<slug:case>/look/", cases.look, name="look"),
    path("case/<slug:case>/act/", cases.act, name="act"),
    path("dialogues/", dialogues.dialogues, name="dialogues"),
    path("dialogues/act/", bulk_actions.act, name="act_on_many"),
    path("dialogues/batch/<slug:batch>/", bulk_actions.batch, name="batch"),
    path("dialogues/batch/<slug:batch>/undo/", bulk_actions.undo, name="undo_batch"),
    path("dialogues/views/", dialogues.save, name="save_view"),
    path("dialogues/views/<slug:view>/", dialogues.change, name="change_view"),
    path("fill/", home.fill, name="fill"),
    path("agreement/", agreement.agreement, name="agreement"),
    path("judges/", annotators.judges, name="judges"),
    path("judges/decide/", annotators.decide, name="decide"),
    path("agreement/question/", agreement.raters, name="raters"),
    path("people/", annotators.people, name="people"),
    path("people/admit/", annotators.admit, name="admit"),
]
