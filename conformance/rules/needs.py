"""What of a recording a rule needs to be judged, as far as its id and its view say it."""

from __future__ import annotations

import re

from conformance.rules.views import Answered, ErrorAnswer, Probe, Viewable
from conformance.types import Aspect

_OF_REQUESTS = re.compile(r"^(?:so|mt)\.|\.(?:mt|request)\.")
_OF_HEADERS = re.compile(r"content-type|-headers?\b|retry-after")
_OF_ABSENT_HEADERS = re.compile(r"request-id-|error\.retry-after$|retry-after-present|wrong-method")


def usual_needs(id: str, view: type[Viewable], probe: str | None) -> frozenset[Aspect]:
    """The aspects that a rule of this id over this view needs; it may need more.

    Members must be there or not as they were sent, for any rule at all. Rules of histories, of structured
    output and of requests compare with what was asked, those of server-sent events look at their lines. That
    a header was not sent is only known where none was left out; that a request had to be accepted, where its
    purpose is.
    """
    needs: set[Aspect] = {"presence"}
    if issubclass(view, Answered | ErrorAnswer):
        needs.add("status")
    if probe is not None or issubclass(view, Probe):
        needs |= {"request", "status", "purpose"}
    if _OF_REQUESTS.search(id):
        needs.add("request")
    if ".request." in id:
        needs.add("purpose")
    if _OF_HEADERS.search(id):
        needs.add("headers")
    if _OF_ABSENT_HEADERS.search(id):
        needs |= {"headers", "all-headers"}
    if id.startswith("sse."):
        needs.add("framing")
    return frozenset(needs)
