"""What openai-python does alike on its two wires."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from conformance.wires import ErrorInfo

from .oracle import IN_STREAM, Raised


def arguments_of(method: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """The body as arguments of the method: members it has no argument for go in ``extra_body``.

    A method without the argument ``stream`` streams by itself.
    """
    known = inspect.signature(method).parameters
    given = {name: value for name, value in body.items() if name in known}
    more = {name: value for name, value in body.items() if name not in {*known, "stream"}}
    return {**given, "extra_body": more} if more else given


def raised(ask: Callable[[], object]) -> Raised:
    """The error that asking ends in."""
    import openai

    try:
        answer = ask()
    except openai.APIError as error:
        body: Any = error.body if isinstance(error.body, dict) else {"message": error.body}
        info = ErrorInfo(body.get("message"), error.type, error.code, error.param)
        return Raised(type(error).__name__, getattr(error, "status_code", IN_STREAM), info)
    raise AssertionError(f"no error but {answer}")
