"""Rules of the ``ollama`` wire: importing this registers them."""

from conformance.rules.ollama import conversation, envelope, errors, message, models, stream

__all__ = ["conversation", "envelope", "errors", "message", "models", "stream"]
