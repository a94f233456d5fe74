"""Numpy computes in one thread: many small products gain nothing from more, and tests run side by side."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
