"""The chat template that scripted models carry."""

from __future__ import annotations

from importlib.resources import files


def hermes_template() -> str:
    """A minimal Hermes/ChatML template in Jinja: the counterpart of ``render_hermes``."""
    return files(__package__).joinpath("hermes.jinja").read_text(encoding="utf-8")
