"""Every dialect reads its samples, at once and however they are cut."""

from __future__ import annotations

import pytest

from conformance.dialects import DIALECTS

from .samples import SAMPLES, TOOLS, Sample, read, wanted


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_a_sample_reads_as_it_says(sample: Sample) -> None:
    assert read(DIALECTS[sample.dialect].parse(sample.text, TOOLS)) == wanted(sample)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_any_cut_in_two_reads_the_same(sample: Sample) -> None:
    whole = DIALECTS[sample.dialect].parse(sample.text, TOOLS)
    for cut in range(len(sample.text) + 1):
        parser = DIALECTS[sample.dialect].parser(TOOLS)
        parser.feed(sample.text[:cut])
        parser.feed(sample.text[cut:])
        assert parser.finish() == whole, cut


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_byte_by_byte_reads_the_same(sample: Sample) -> None:
    parser = DIALECTS[sample.dialect].parser(TOOLS)
    for byte in sample.text.encode():
        parser.feed_bytes(bytes([byte]))
    assert parser.finish() == DIALECTS[sample.dialect].parse(sample.text, TOOLS)


def test_every_dialect_has_samples_with_and_without_calls_found() -> None:
    assert {sample.dialect for sample in SAMPLES if sample.calls} == set(DIALECTS)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if "repaired" in s.flags], ids=str)
def test_in_strict_mode_what_needs_repair_is_no_call(sample: Sample) -> None:
    parsed = DIALECTS[sample.dialect].parse(sample.text, TOOLS, strict=True)
    lenient = DIALECTS[sample.dialect].parse(sample.text, TOOLS)
    assert len(parsed.calls) < len(lenient.calls)
    assert parsed.content
    # a fenced call stays quoted in strict mode, any other one is reported as malformed
    assert parsed.flags & {"malformed", "quoted"}
