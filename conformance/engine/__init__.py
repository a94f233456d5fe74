"""Acquires exchanges, hands them to the judge, and lets pytest collect and report the cells."""
