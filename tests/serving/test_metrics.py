"""What is counted, read back from the text that Prometheus would get."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rtvoice.config import Prices
from rtvoice.protocol.messages import Cancelled, Done, Error
from rtvoice.serving.lifecycle import State
from rtvoice.serving.memory import Usage
from rtvoice.serving.metrics import Metrics

GIB = 1 << 30
ENDED = {"utterance": 1, "characters": 5, "spoken_characters": 5, "audio_ms": 2000, "first_audio_ms": 300}


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def metrics(clock):
    return Metrics(Prices(cpu_s=2.0, gib_s=3.0), clock)


def read(metrics):
    """All samples by name and labels."""
    text = metrics.expose(hungry=1, predicted_s=0.5, sessions=2).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_an_utterance_is_counted_by_its_end(metrics):
    metrics.utterance_ended(Done(**ENDED, compute_ms=1000, queue_ms=40))
    metrics.utterance_ended(Cancelled(**ENDED))
    metrics.utterance_ended(Error(utterance=3, code="overloaded", message="No."))
    found = read(metrics)
    assert found["rtvoice_utterances_total", "done"] == 1
    assert found["rtvoice_utterances_total", "cancelled"] == 1
    assert found["rtvoice_utterances_total", "overloaded"] == 1
    assert found["rtvoice_refusals_total", "utterance"] == 1
    assert found["rtvoice_first_audio_seconds_count",] == 2
    assert found["rtvoice_first_audio_seconds_sum",] == pytest.approx(0.6)
    assert found["rtvoice_real_time_factor_sum",] == pytest.approx(0.5)
    assert found["rtvoice_queue_seconds_sum",] == pytest.approx(0.04)
    assert found["rtvoice_audio_seconds_total",] == pytest.approx(4.0)


def test_what_is_so_now(metrics):
    found = read(metrics)
    assert found["rtvoice_sessions",] == 2
    assert found["rtvoice_hungry_utterances",] == 1
    assert found["rtvoice_predicted_first_audio_seconds",] == 0.5


def test_states_are_timed_also_the_one_it_is_in(metrics, clock):
    clock.now = 5.0
    metrics.state_changed(State.COLD, 5.0, State.LOADING)
    clock.now = 7.0
    metrics.state_changed(State.LOADING, 2.0, State.READY)
    clock.now = 10.0
    found = read(metrics)
    assert found["rtvoice_state_seconds_total", "cold"] == 5.0
    assert found["rtvoice_state_seconds_total", "loading"] == 2.0
    assert found["rtvoice_state_seconds_total", "ready"] == 3.0
    assert found["rtvoice_state_seconds_total", "released"] == 0
    assert found["rtvoice_state", "ready"] == 1
    assert found["rtvoice_state", "loading"] == 0
    assert found["rtvoice_cold_start_seconds_sum",] == 2.0
    assert found["rtvoice_loads_total", "done"] == 1


def test_a_load_that_failed_is_no_cold_start(metrics):
    metrics.state_changed(State.LOADING, 2.0, State.COLD)
    found = read(metrics)
    assert found["rtvoice_cold_start_seconds_count",] == 0
    assert found["rtvoice_loads_total", "failed"] == 1


def test_the_cost_is_cpu_and_memory_at_their_prices(metrics):
    metrics.used(Usage(memory_bytes=GIB // 2, cpu_s=1.0), 10.0)
    metrics.used(Usage(memory_bytes=GIB, cpu_s=4.0), 10.0)
    found = read(metrics)
    assert found["rtvoice_cpu_seconds_total",] == 4.0
    assert found["rtvoice_memory_gib_seconds_total",] == 15.0
    assert found["rtvoice_cost_total",] == pytest.approx(4 * 2 + 15 * 3)
    assert found["rtvoice_memory_bytes", "cold"] == GIB


def test_cpu_time_that_seems_to_fall_is_not_paid_twice(metrics):
    for cpu_s in (4.0, 3.0, 5.0):
        metrics.used(Usage(memory_bytes=0, cpu_s=cpu_s), 1.0)
    assert read(metrics)["rtvoice_cpu_seconds_total",] == 5.0


def test_histograms_of_cancels_and_of_audio_in_hand(metrics):
    metrics.cancelled_in(0.003)
    metrics.audio_ahead(7.5)
    metrics.refused("session")
    found = read(metrics)
    assert found["rtvoice_cancel_seconds_count",] == 1
    assert found["rtvoice_audio_ahead_seconds_sum",] == 7.5
    assert found["rtvoice_refusals_total", "session"] == 1


def test_two_servers_count_apart():
    one, other = Metrics(Prices()), Metrics(Prices())
    one.refused("session")
    assert ("rtvoice_refusals_total", "session") not in read(other)
