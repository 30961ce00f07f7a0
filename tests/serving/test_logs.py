"""What is logged, and what is not."""

import io
import json

import pytest
import structlog

from rtvoice.serving.logs import configure_logging, trace


@pytest.fixture(autouse=True)
def _restored():
    yield
    structlog.reset_defaults()


def failure(secret):
    try:
        try:
            int(secret)
        except ValueError as error:
            raise RuntimeError(secret) from error
    except RuntimeError as error:
        return error


async def test_a_trace_has_types_and_lines_and_no_text():
    told = trace(ExceptionGroup("secret", [failure("secret")]))
    assert told.startswith("RuntimeError at test_logs.py:")
    assert "from ValueError at test_logs.py:" in told
    assert "secret" not in told


async def test_json_is_one_object_an_event():
    stream = io.StringIO()
    configure_logging("json", stream=stream)
    structlog.get_logger().info("something", count=3)
    structlog.get_logger().debug("nothing")
    (line,) = stream.getvalue().splitlines()
    event = json.loads(line)
    assert (event["event"], event["count"], event["level"]) == ("something", 3, "info")
    assert event["timestamp"].endswith("Z")


def stumble(number):
    hidden = "sec" + "ret"
    return len(hidden) / number


async def test_the_console_shows_no_values_of_variables():
    stream = io.StringIO()
    configure_logging("console", level="debug", stream=stream)
    try:
        stumble(0)
    except ZeroDivisionError:
        structlog.get_logger().exception("something")
    assert "ZeroDivisionError" in stream.getvalue()
    assert "secret" not in stream.getvalue()
