"""Bytes in and out: the live client, the tape, server-sent events, and redaction."""
