"""``reasoning_effort`` in the words that a model knows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.types import Request

ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")
"""From the weakest to the strongest."""

Table = Sequence[tuple[re.Pattern[str], Sequence[str]]]
"""Which levels a model takes, by a pattern of its name; the first that matches counts."""


def table(rows: Mapping[str, str]) -> Table:
    """A table from patterns of model names to levels, separated by spaces."""
    return tuple((re.compile(pattern, re.IGNORECASE), levels.split()) for pattern, levels in rows.items())


def effort_of(request: Request) -> str | None:
    """The effort that is asked for."""
    effort = request.extra.get("reasoning_effort")
    return effort if isinstance(effort, str) else None


def wants_thinking(request: Request) -> bool | None:
    """Whether reasoning is asked for, by any of the words there are for it; ``None``: nothing is said."""
    thinking = request.extra.get("thinking")
    if isinstance(thinking, dict) and isinstance(thinking.get("type"), str):
        return bool(thinking["type"] != "disabled")
    for word in ("enable_thinking", "think"):
        if isinstance(request.extra.get(word), bool):
            return bool(request.extra[word])
    reasoning = request.extra.get("reasoning")
    if isinstance(reasoning, dict) and isinstance(reasoning.get("enabled"), bool):
        return bool(reasoning["enabled"])
    effort = effort_of(request)
    return None if effort is None else effort != "none"


def with_extra(request: Request, **words: object) -> Request:
    """The request with these words of Chat; a word that is ``None`` is left out."""
    extra = {**request.extra, **words}
    return replace(request, extra={key: value for key, value in extra.items() if value is not None})


MODELS = table(
    {
        r"(?:^|/)glm-5\.2": "high max",
        r"(?:^|/)glm-5\.3": "low medium high xhigh max",
        r"(?:^|/)step-": "low medium high",
        r"[:-]cloud$": "none low medium high max",
        r"(?:^|/)grok-4\.5": "minimal low medium high xhigh max",
        r"(?:^|/)gpt-5\.6": "none low medium high xhigh max",
        r"(?:^|/)(?:kimi-)?k3": "low high max",
    }
)
"""What models take wherever they are served."""


def clamped(request: Request, model: str, levels: Table) -> Request:
    """The effort as the nearest weaker level that the model takes; its weakest where none is weaker.

    ``levels`` are a host's own; of these only what the model is known to take anywhere.
    """
    effort = effort_of(request)
    hosts, models = _row(levels, model), _row(MODELS, model)
    known = [name for name in hosts or models if not models or name in models] or models
    if effort is None or not known or effort in known or effort not in ORDER:
        return request
    rank = ORDER.index(effort)
    weaker = [name for name in known if ORDER.index(name) < rank]
    nearest = max(weaker, key=ORDER.index) if weaker else min(known, key=ORDER.index)
    return with_extra(request, reasoning_effort=nearest)


def _row(levels: Table, model: str) -> Sequence[str]:
    return next((names for pattern, names in levels if pattern.search(model)), ())
