"""Starts outlive the process that made them."""

from datetime import timedelta
from pathlib import Path

from tests.fakes.clock import FakeClock
from theodolite.gateways.limits import start_log as module
from theodolite.gateways.limits.start_log import StartLog, start_log


class BackwardClock(FakeClock):
    """Was put back by an hour."""

    def now(self):
        return super().now() - timedelta(hours=1)


def test_the_next_process_recalls_what_the_last_one_started(tmp_path: Path) -> None:
    clock = FakeClock()
    first = start_log(tmp_path / "starts", clock, "host", "KEY", "model")
    assert first.recall(60.0) == []
    first.note(7, span_s=60.0)
    clock.passed_s = 20.0
    first.note(8, span_s=60.0)
    clock.passed_s = 65.0

    recalled = start_log(tmp_path / "starts", clock, "host", "KEY", "model").recall(60.0)

    assert recalled == [(45.0, 8)]


def test_endpoints_have_logs_of_their_own(tmp_path: Path) -> None:
    clock = FakeClock()
    one = start_log(tmp_path, clock, "host", "KEY", "a")
    one.recall(60.0)
    one.note(1, span_s=60.0)

    assert start_log(tmp_path, clock, "host", "KEY", "b").recall(60.0) == []


def test_half_a_line_does_no_harm(tmp_path: Path) -> None:
    clock = FakeClock()
    path = tmp_path / "x.starts"
    path.write_text(f"{clock.now().timestamp():.6f} 5\nnonsense\n17674")

    assert StartLog(path, clock).recall(60.0) == [(0.0, 5)]


def test_a_clock_that_was_put_back_makes_nobody_wait_for_an_hour(tmp_path: Path) -> None:
    path = tmp_path / "x.starts"
    StartLog(path, FakeClock()).note(5, span_s=60.0)

    assert StartLog(path, BackwardClock()).recall(60.0) == [(0.0, 5)]


def test_a_long_log_drops_what_is_too_old(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "LARGEST_BYTES", 200)
    clock = FakeClock()
    log = StartLog(tmp_path / "x.starts", clock)
    for _ in range(100):
        clock.passed_s += 20.0
        log.note(1, span_s=60.0)

    assert (tmp_path / "x.starts").stat().st_size <= 250
    assert len(log.recall(60.0)) == 4


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "starts").write_text("a file where the folder should be")
    log = start_log(tmp_path / "starts", FakeClock(), "host")

    log.note(1, span_s=60.0)

    assert log.recall(60.0) == []
