"""What can go wrong in the lab; each message says what to do about it."""

from __future__ import annotations


class LabError(Exception):
    """A server can't be installed, started or stopped as asked."""


class Unavailable(LabError):
    """This machine can't have that server: Python, Node, disk or operating system don't fit."""
