"""A conversation with tools as one without: for a chat wire that has none, or must not use its own.

Tools go into the system prompt, calls into the assistant's text, results into user messages. What the
text can't say is reported. Text that comes from users and tools is neutralised: it could otherwise hold a
call or the end of a turn. Sources: the rules H1 to H6, K1, K5, K7, S1 and S7 of the conversion catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.dialects.jsontext import same
from conformance.dialects.rendering import Result, Written, neutralised, paragraphs, visible
from conformance.types import (
    Audio,
    File,
    Image,
    Loss,
    Message,
    NamedChoice,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    ToolCall,
    Turn,
)

if TYPE_CHECKING:
    from conformance.dialects.dialect import Dialect

NO_RESULT = "(no result)"
"""Stands for a result that is missing: results are paired with calls by their order alone."""

_MAX_STOPS = 4


def to_text(dialect: Dialect, request: Request) -> tuple[Request, tuple[Loss, ...]]:
    """The request with everything about tools written as text, and what that loses.

    Paths of losses point into ``request``. Never raises: arguments that are no object are written as
    ``{"__raw": "..."}``, a call without a result among others that have one gets ``NO_RESULT``.
    """
    work = _Work(dialect, request)
    work.settings()
    for index, message in enumerate(request.messages):
        if message.role != "tool":
            work.answer()
        if message.role == "assistant":
            work.assistant(index, message)
        elif message.role == "tool":
            work.waiting.append((index, message))
        elif message.role == "user":
            parts = tuple(
                work.safe(part, f"/messages/{index}/parts/{n}") for n, part in enumerate(message.parts)
            )
            work.messages.append(replace(message, parts=parts))
        else:
            work.messages.append(message)
    work.answer()
    told = dialect.render_tools(request.tools, request.tool_choice, request.parallel_tool_calls)
    if told:
        work.messages = _with_system(work.messages, told)
    stop = request.stop
    if told and dialect.stop:
        wanted = tuple(s for s in dialect.stop if s not in (stop or ()))
        if len(stop or ()) + len(wanted) <= _MAX_STOPS:
            stop = (*(stop or ()), *wanted)
        else:
            work.lose("/stop", "no room for the stop sequence that keeps the model from writing results")
    changed = replace(
        request,
        messages=tuple(work.messages),
        tools=(),
        tool_choice=None,
        parallel_tool_calls=None,
        stop=stop,
    )
    return changed, tuple(work.losses)


def _with_system(messages: list[Message], told: str) -> list[Message]:
    """The tools at the end of the first system message, or as a system message of their own."""
    if messages and messages[0].role in ("system", "developer"):
        first = messages[0]
        if all(isinstance(part, Text) for part in first.parts):
            text = "".join(visible(part) for part in first.parts)
            return [replace(first, parts=(Text(paragraphs(text, told)),)), *messages[1:]]
    return [Message.system(told), *messages]


@dataclass(slots=True)
class _Work:
    dialect: Dialect
    request: Request
    messages: list[Message] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    waiting: list[tuple[int, Message]] = field(default_factory=list)
    """Results that have come since the last assistant message."""
    asked: list[Written] = field(default_factory=list)
    """The calls they answer."""
    number: int = 0

    def lose(self, path: str, what: str, *, form: bool = False) -> None:
        self.losses.append(Loss(path, what, "form" if form else "meaning"))

    def settings(self) -> None:
        """What the fields around the conversation lose."""
        request = self.request
        for index, tool in enumerate(request.tools):
            if tool.strict is not None:
                self.lose(f"/tools/{index}/strict", "text has no strict schemas")
        if request.tool_choice == "required" or isinstance(request.tool_choice, NamedChoice):
            self.lose("/tool_choice", "said in words; nothing enforces it")
        if request.parallel_tool_calls is False:
            self.lose("/parallel_tool_calls", "said in words; nothing enforces it")
        for key in ("tools", "tool_choice"):
            if key in request.extra:
                self.lose(f"/extra/{key}", "sent verbatim, beside the text")
        if request.tools and request.response_format is not None:
            self.lose("/response_format", "a text held to a format has no room for calls")

    def safe(self, part: Part, path: str) -> Part:
        """A part from outside that can forge nothing."""
        if not isinstance(part, Text):
            return part
        text, count = neutralised(part.text, self.dialect.marks)
        if not count:
            return part
        self.lose(path, f"{count} marker(s) neutralised", form=True)
        return replace(part, text=text)

    # ---------------------------------------------------------------------------------- assistant

    def assistant(self, index: int, message: Message) -> None:
        path = f"/messages/{index}"
        parts = tuple(self._assistant_part(part, f"{path}/parts/{n}") for n, part in enumerate(message.parts))
        turn = Turn(tuple(part for part in parts if part is not None))
        text = self.dialect.render_calls(turn, self.request.tools, first=self.number)
        self.asked = [Written.of(call, self.number + n) for n, call in enumerate(turn.calls)]
        self.number += len(self.asked)
        calls = {f"{path}/parts/{n}": p for n, p in enumerate(message.parts) if isinstance(p, ToolCall)}
        self._check(list(calls), path, text)
        for where, call in calls.items():
            if not call.id or call.id not in text:
                self.lose(f"{where}/id", "not in the text; results are paired by order", form=True)
        text = self._reasoning(index, message) + text
        self.messages.append(replace(message, parts=(Text(text),) if text else ()))

    def _assistant_part(self, part: Part, path: str) -> Part | None:
        if isinstance(part, Image | Audio | File):
            self.lose(path, "an assistant's picture, sound or document has no text")
            return None
        if part.opaque and not isinstance(part, Reasoning):
            self.lose(f"{path}/opaque", "bound to its provider")
        if isinstance(part, Refusal):
            self.lose(path, "a refusal is told as text", form=True)
            return self.safe(Text(part.text), path)
        return self.safe(part, path)

    def _check(self, places: Sequence[str], path: str, text: str) -> None:
        """Read the text back: what does not come back could not be written."""
        read = self.dialect.parse(text, self.request.tools).calls
        for number, (where, call) in enumerate(zip(places, self.asked, strict=True)):
            if not call.sound:
                self.lose(where, f"the arguments of {call.name} are no JSON object")
            if len(read) != len(self.asked):
                self.lose(where, f"{self.dialect.name} can't write this call of {call.name}")
            elif read[number].name != call.name or not same(read[number].args, call.args):
                self.lose(where, f"{self.dialect.name} can't write these arguments of {call.name} exactly")
        if read and not self.asked:
            self.lose(path, "the text reads as a call", form=True)

    def _reasoning(self, index: int, message: Message) -> str:
        """Reasoning goes along in the current tool loop, where the dialect's models want it."""
        older = any(later.role == "user" for later in self.request.messages[index + 1 :])
        told = []
        for n, part in enumerate(message.parts):
            path = f"/messages/{index}/parts/{n}"
            if not isinstance(part, Reasoning):
                continue
            if part.opaque:
                self.lose(path, "reasoning that is bound to its provider")
            elif not self.dialect.keeps_reasoning:
                self.lose(path, f"{self.dialect.name} takes no reasoning back")
            elif older:
                self.lose(path, "reasoning of an older turn", form=True)
            else:
                told.append(neutralised(part.text, self.dialect.marks)[0])
        return self.dialect.render_reasoning("".join(told)) if told else ""

    # ------------------------------------------------------------------------------------ results

    def answer(self) -> None:
        """Write the results that have come, in the order of their calls."""
        if not self.waiting:
            return
        results: list[Result] = []
        shown: list[Part] = []
        for name, call_id, found in self._paired():
            if found is None:
                self.lose(
                    f"/messages/{self.waiting[0][0]}", f"no result for {name}: {NO_RESULT} stands for it"
                )
                results.append(Result(name, NO_RESULT, call_id))
                continue
            index, message = found
            shown += [part for part in message.parts if not visible(part)]
            results.append(Result(name, self._result_text(index, message), call_id))
            if not call_id or call_id not in self.dialect.render_results(results[-1:])[0].text:
                self.lose(f"/messages/{index}/tool_call_id", "results are paired by order", form=True)
        sent = self.dialect.render_results(results)
        if any(one.role != "user" for one in sent):
            role = next(one.role for one in sent if one.role != "user")
            self.lose(
                f"/messages/{self.waiting[0][0]}/role", f"the dialect's {role} is sent as user", form=True
            )
        self.messages.append(Message("user", (Text("\n".join(one.text for one in sent)), *shown)))
        self.waiting, self.asked = [], []

    def _paired(self) -> Iterator[tuple[str, str, tuple[int, Message] | None]]:
        """Name, id and result of each call; then the results that answer none."""
        left = list(self.waiting)
        for call in self.asked:
            found = next((row for row in left if row[1].tool_call_id == call.id), None)
            if found:
                left.remove(found)
            yield call.name, self.dialect.id_in_text(call), found
        for index, message in left:
            self.lose(f"/messages/{index}", "a result that answers no call before it: text has no ids")
            yield "", message.tool_call_id or "", (index, message)

    def _result_text(self, index: int, message: Message) -> str:
        texts = [
            visible(self.safe(part, f"/messages/{index}/parts/{n}")) for n, part in enumerate(message.parts)
        ]
        text = "".join(texts)
        if message.is_error:
            self.lose(f"/messages/{index}/is_error", "told in words", form=True)
            text = f"Error: {text}"
        if self.dialect.forging_lines is not None:
            text, count = neutralised(text, self.dialect.forging_lines)
            if count:
                self.lose(f"/messages/{index}", f"{count} line(s) neutralised", form=True)
        return text
