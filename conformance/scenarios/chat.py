"""Plain conversation."""

from __future__ import annotations

from conformance.scenarios.base import IMAGES, ask, need, request, scenario
from conformance.scenarios.kit import one_line_pdf, red_square, said, tone_wav
from conformance.types import Ask, Audio, File, Image, Message, Script, Text


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


@scenario("chat.empty-content", ideal=(said("Hello, although I got no instructions."),))
def empty_content() -> Script:
    """An empty system message, as clients without instructions send it."""
    yield Ask(request(Message.system(""), Message.user("Say hello once more.")))


@scenario(
    "chat.image",
    ideal=(said("The square is red."), said("I see no picture, so I cannot tell the colour.")),
    optional=(IMAGES,),
)
def image() -> Script:
    """A picture in a message, and the same question without it.

    An endpoint that sees no pictures says so with a 4xx. One that answers has read the picture, which costs
    tokens: the second question shows what the text alone costs.
    """
    question = Text("What colour is the square in the picture? Answer in one short sentence.")
    picture = Image(red_square())
    yield Ask(request(Message("user", (question, picture))))
    yield Ask(request(Message("user", (question,))), probe="without-image", expect="either")


QUESTION = "What is in the attachment? Answer in one short sentence."


@scenario(
    "chat.sound",
    ideal=(said("It is a short tone."), said("Nothing was attached that could be heard.")),
)
def sound() -> Script:
    """A sound in a message, and the same question without it.

    Few endpoints take one; one that does not says so with a 4xx. As with pictures, what was read has its
    price in tokens.
    """
    attached = Message("user", (Text(QUESTION), Audio(tone_wav(), "wav")))
    yield Ask(request(attached), probe="attachment", expect="either")
    yield Ask(request(Message.user(QUESTION)), probe="without-attachment", expect="either")


@scenario(
    "chat.document",
    ideal=(said("The page says KESTREL."), said("Nothing was attached that could be read.")),
)
def document() -> Script:
    """A PDF in a message, and the same question without it."""
    attached = Message("user", (Text(QUESTION), File(one_line_pdf("KESTREL"), "page.pdf")))
    yield Ask(request(attached), probe="attachment", expect="either")
    yield Ask(request(Message.user(QUESTION)), probe="without-attachment", expect="either")


LONG_PROMPT = "You keep the log of a weather station. " + " ".join(
    f"Entry {number}: wind force {number % 9}, {number * 7 % 31} degrees, sight {number * 13 % 97} miles."
    for number in range(1, 101)
)
"""About 1,800 tokens: above the 1,024 from which OpenAI caches a prompt."""


@scenario(
    "chat.repeated-prompt",
    ideal=(said("Entry 9 reports calm air."), said("Calm air is what entry 9 reports.")),
)
def repeated_prompt() -> Script:
    """The same long prompt twice: what is read from a cache counts as part of the prompt."""
    messages = (Message.system(LONG_PROMPT), Message.user("What wind does entry 9 report?"))
    yield from ask(request(*messages))
    yield Ask(request(*messages), probe="repeated-prompt", expect="either")
