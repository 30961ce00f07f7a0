"""What the tests of the text layer share."""

import gc

import pytest


@pytest.fixture(autouse=True)
def _no_collector():
    """Some of these tests take time: what earlier tests left behind must not be looked through meanwhile."""
    gc.disable()
    yield
    gc.enable()
