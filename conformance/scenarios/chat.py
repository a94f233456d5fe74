"""Plain conversation."""

from __future__ import annotations

from conformance.scenarios.base import ask, need, request, scenario
from conformance.scenarios.kit import said
from conformance.types import Message, Script


@scenario("chat.plain", ideal=(said("Hello there, nice to meet you."),))
def plain() -> Script:
    """One question, one answer.

    The smallest request there is: the envelope, the message, the finish reason and the usage of the answer
    are judged.
    """
    turn = yield from ask(request(Message.user("Say hello in one short sentence.")))
    need(turn.text, "answer with text")


@scenario("chat.multi-turn", ideal=(said("Good morning, Ada!"), said("Your name is Ada.")))
def multi_turn() -> Script:
    """A second question that needs the first answer's history.

    The endpoint's own message goes back in the history exactly as its text; the answer must rest on it.
    """
    opening = (Message.system("You are brief."), Message.user("My name is Ada. Greet me by name."))
    greeting = yield from ask(request(*opening))
    need(greeting.text, "answer the greeting with text")
    question = Message.user("What is my name? Answer in one short sentence.")
    answer = yield from ask(request(*opening, Message.assistant(greeting), question), probe="history")
    need("ada" in answer.text.lower(), "remember the name Ada from the first message")
