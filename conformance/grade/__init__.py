"""Verdicts on traffic that others recorded: importers, recognition, and what a recording is evidence for."""
