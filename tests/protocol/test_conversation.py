"""The rules of a session: messages in, steps out."""

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rtvoice.config import Limits
from rtvoice.errors import InvalidInput, SynthesisFailed
from rtvoice.protocol.conversation import Conversation, Opened
from rtvoice.protocol.messages import Cancel, Cancelled, Done, End, Error, Flush, Speak, Word, Words
from rtvoice.protocol.utterance import IllegalEvent, State


def check(options):
    if options.voice not in {None, "a", "b"}:
        raise InvalidInput("There is no such voice.", field="voice", allowed=("a", "b"))


@pytest.fixture
def conversation():
    return Conversation(Limits(text_characters=20, utterances=3), check)


def tell(conversation, kind, now=0.0, **fields):
    return conversation.receive_data(json.dumps({"type": kind, **fields}), now)


def tell_one(conversation, kind, **fields):
    (step,) = tell(conversation, kind, **fields)
    return step


class TestNumbers:
    def test_the_first_speak_opens(self, conversation):
        opened, text = tell(conversation, "speak", utterance=5, text="Hi", voice="b")
        assert isinstance(opened, Opened)
        assert (opened.options.utterance, opened.options.voice) == (5, "b")
        assert text == Speak(text="Hi", utterance=5)
        assert tell(conversation, "speak", utterance=5, text=" you") == [Speak(text=" you", utterance=5)]
        assert conversation.living == (5,)

    def test_without_number_text_goes_to_the_one_opened_last(self, conversation):
        tell(conversation, "speak", utterance=5, text="a")
        assert tell(conversation, "speak", text="b") == [Speak(text="b", utterance=5)]
        assert tell(conversation, "flush") == [Flush(utterance=5)]
        assert tell(conversation, "end") == [End(utterance=5)]
        assert tell(conversation, "speak", text="c")[0].options.utterance == 6

    def test_without_number_after_a_failure_text_is_not_taken_for_a_new_one(self, conversation):
        tell(conversation, "speak", text="a" * 21)
        assert conversation.living == ()
        error = tell_one(conversation, "speak", text="rest")
        assert (error.utterance, error.field) == (None, "utterance")
        assert tell(conversation, "flush") == []
        assert tell(conversation, "end") == []
        assert tell(conversation, "speak", text="new")[0].options.utterance == 2

    def test_without_number_but_with_options_after_a_failure_a_new_one_is_meant(self, conversation):
        assert tell_one(conversation, "speak", text="a", voice="x").utterance == 1
        opened, _ = tell(conversation, "speak", text="a", voice="a")
        assert opened.options.utterance == 2

    def test_numbers_rise(self, conversation):
        tell(conversation, "speak", utterance=5, text="a")
        error = tell_one(conversation, "speak", utterance=3, text="a")
        assert (error.utterance, error.field) == (None, "utterance")
        assert "5" in error.allowed

    def test_the_last_number_there_is(self, conversation):
        tell(conversation, "speak", utterance=2**32 - 1, text="a")
        tell(conversation, "end")
        assert tell_one(conversation, "speak", text="b").field == "utterance"

    def test_what_was_never_opened(self, conversation):
        for kind in ("flush", "cancel"):
            error = tell_one(conversation, kind, utterance=9)
            assert (error.utterance, error.field) == (None, "utterance")
        assert tell_one(conversation, "flush").utterance is None


class TestOptions:
    def test_only_the_opening_message_carries_them(self, conversation):
        tell(conversation, "speak", text="a")
        error = tell_one(conversation, "speak", text="b", speed=1.0)
        assert (error.utterance, error.field) == (1, "speed")
        assert conversation.living == ()

    def test_what_cannot_be_spoken_uses_the_number_up(self, conversation):
        error = tell_one(conversation, "speak", utterance=4, text="a", voice="x")
        assert (error.utterance, error.code, error.field, error.allowed) == (4, "invalid_input", "voice", ("a", "b"))
        assert tell(conversation, "speak", utterance=4, text="more") == []
        assert tell(conversation, "end", utterance=4) == []
        assert tell(conversation, "cancel", utterance=4) == []

    def test_a_faulty_speak_ends_its_utterance(self, conversation):
        tell(conversation, "speak", utterance=1, text="a")
        error = tell_one(conversation, "speak", utterance=1, txt="b")
        assert (error.utterance, error.field) == (1, "txt")
        assert tell(conversation, "speak", utterance=1, text="c") == []

    def test_a_faulty_speak_for_what_takes_no_text_concerns_the_message(self, conversation):
        tell(conversation, "speak", utterance=1, text="a")
        tell(conversation, "end", utterance=1)
        assert tell_one(conversation, "speak", utterance=1, txt="b").utterance is None
        assert tell_one(conversation, "speak", utterance=1, text="b").field == "utterance"
        assert tell_one(conversation, "end", utterance=1).utterance is None
        assert conversation.state(1) is State.DRAINING


class TestLimits:
    def test_text(self, conversation):
        assert len(tell(conversation, "speak", text="a" * 20)) == 2
        error = tell_one(conversation, "speak", text="b")
        assert (error.utterance, error.code, error.field) == (1, "text_too_long", "text")
        assert "20" in error.allowed
        assert error.characters == 20

    def test_utterances(self, conversation):
        for number in (1, 2, 3):
            tell(conversation, "speak", utterance=number, text="a")
        error = tell_one(conversation, "speak", utterance=4, text="a")
        assert (error.utterance, error.code) == (4, "overloaded")
        assert error.retry_after_ms > 0
        conversation.cancel(2, 0)
        assert len(tell(conversation, "speak", utterance=5, text="a")) == 2

    def test_a_stopping_server(self, conversation):
        tell(conversation, "speak", text="a")
        conversation.stop()
        assert tell(conversation, "speak", text="b") == [Speak(text="b", utterance=1)]
        assert tell_one(conversation, "speak", utterance=2, text="a").code == "stopping"


class TestEnds:
    def test_an_empty_utterance(self, conversation):
        opened, end = tell(conversation, "end")
        assert isinstance(opened, Opened)
        assert end == End(utterance=1)
        assert conversation.finish(1) == Done(
            utterance=1, characters=0, spoken_characters=0, audio_ms=0, first_audio_ms=None
        )

    def test_the_account_of_done(self, conversation):
        tell(conversation, "speak", text="One two", now=10.0)
        tell(conversation, "end")
        conversation.send_audio(1, 2400, now=10.5)
        done = conversation.finish(1)
        assert (done.characters, done.spoken_characters, done.audio_ms, done.first_audio_ms) == (7, 7, 100, 500)

    def test_the_account_of_cancelled(self, conversation):
        tell(conversation, "speak", text="One two")
        words = (
            Word(text="One", start=0, end=3, start_s=0.0, end_s=0.1),
            Word(text="two", start=4, end=7, start_s=0.1, end_s=0.2),
        )
        conversation.send_words(Words(utterance=1, words=words))
        conversation.send_audio(1, 4800, now=0.0)
        assert tell(conversation, "cancel") == [Cancel(utterance=1)]
        cancelled = conversation.cancel(1, heard=2400)
        assert isinstance(cancelled, Cancelled)
        assert (cancelled.spoken_characters, cancelled.characters, cancelled.audio_ms) == (3, 7, 200)

    def test_the_account_of_an_error(self, conversation):
        tell(conversation, "speak", text="One two")
        words = (Word(text="One", start=0, end=3, start_s=0.0, end_s=0.1),)
        conversation.send_words(Words(utterance=1, words=words))
        conversation.send_audio(1, 2400, now=0.0)
        error = conversation.fail(1, SynthesisFailed("It could not be spoken."))
        assert (error.utterance, error.code, error.spoken_characters, error.audio_ms) == (1, "synthesis_failed", 3, 100)

    def test_cancel_without_number_means_all(self, conversation):
        for number in (1, 2, 3):
            tell(conversation, "speak", utterance=number, text="a")
        assert tell(conversation, "cancel") == [Cancel(utterance=number) for number in (1, 2, 3)]
        for number in (1, 2, 3):
            conversation.cancel(number, 0)
        assert tell(conversation, "cancel") == []

    def test_what_ended_ends_no_more(self, conversation):
        tell(conversation, "end")
        conversation.finish(1)
        assert tell(conversation, "cancel", utterance=1) == []
        with pytest.raises(KeyError):
            conversation.fail(1, SynthesisFailed("late"))

    def test_finishing_what_is_open_is_our_fault(self, conversation):
        tell(conversation, "speak", text="a")
        with pytest.raises(IllegalEvent):
            conversation.finish(1)


class Session(RuleBasedStateMachine):
    """Any messages and any work of the server: one terminal an utterance, and nothing of it afterwards."""

    def __init__(self):
        super().__init__()
        self.conversation = Conversation(Limits(text_characters=30, utterances=4), check)
        self.opened = []
        self.terminals = []

    def take(self, steps):
        for step in steps:
            if isinstance(step, Opened):
                assert step.options.utterance not in self.opened
                assert step.options.utterance > max(self.opened, default=0)
                self.opened.append(step.options.utterance)
            elif isinstance(step, Error):
                if step.utterance is not None:
                    self.terminals.append(step.utterance)
            else:
                assert step.utterance in self.opened
                assert step.utterance not in self.terminals
                if isinstance(step, Cancel):
                    self.terminals.append(self.conversation.cancel(step.utterance, 0).utterance)

    @rule(
        kind=st.sampled_from(["speak", "flush", "end", "cancel"]),
        number=st.none() | st.integers(1, 8),
        text=st.none() | st.text("ab. ", max_size=12),
        voice=st.none() | st.sampled_from(["a", "b", "x"]),
    )
    def client(self, kind, number, text, voice):
        fields = {"utterance": number, "text": text, "voice": voice}
        self.take(tell(self.conversation, kind, **{name: value for name, value in fields.items() if value is not None}))

    @rule(index=st.integers(0, 3), work=st.sampled_from(["audio", "finish", "fail"]))
    def server(self, index, work):
        if index >= len(self.conversation.living):
            return
        number = self.conversation.living[index]
        if work == "audio":
            self.conversation.send_audio(number, 240, 0.0)
        elif work == "fail":
            self.terminals.append(self.conversation.fail(number, SynthesisFailed("no")).utterance)
        elif self.conversation.state(number) is State.DRAINING:
            self.terminals.append(self.conversation.finish(number).utterance)

    @invariant()
    def each_has_one_terminal(self):
        assert len(set(self.terminals)) == len(self.terminals)
        assert not set(self.terminals) & set(self.conversation.living)
        assert set(self.conversation.living) <= set(self.opened)
        assert len(self.conversation.living) <= 4


TestSession = Session.TestCase
TestSession.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)
