"""The T4 format: out, back in, and documents of other tools."""

import json

import pytest

from phobos_nb.tune.outcome import Failed, Kind, Measured
from phobos_nb.tune.records import RecordError
from phobos_nb.tune.t4 import outcomes, read, to_t4, write
from tests.tune.recorded import record


def test_a_record_goes_out_and_comes_back(tmp_path):
    """Constants, all samples, failures and resources survive; kinds come back as T4 can tell them."""
    kept = record()
    write(kept, tmp_path / "out.t4.json")
    found = read(tmp_path / "out.t4.json")
    assert set(found) == set(kept.outcomes)
    for name, outcome in kept.outcomes.items():
        other = found[name]
        if isinstance(outcome, Measured):
            assert isinstance(other, Measured)
            assert other.times == outcome.samples
            assert other.facts["registers"] == 100.0
        else:
            assert isinstance(other, Failed)
            assert other.kind is outcome.kind


def test_required_fields_of_the_schema_are_there():
    """Each result has what results-schema.json requires, and one of its words for a failure."""
    data = to_t4(record())
    words = {"timeout", "compile", "runtime", "correctness", "constraints", "correct"}
    for result in data["results"]:
        assert {"configuration", "times", "invalidity", "correctness"} <= set(result)
        assert result["invalidity"] in words
    json.dumps(data)


def test_a_document_of_another_tool_is_read():
    """No runtimes but a measurement of the time; an unknown word or a missing field is an error."""
    result = {
        "configuration": {"block_size_x": 64},
        "times": {"compilation_time": 200.0},
        "invalidity": "correct",
        "correctness": 1,
        "measurements": [{"name": "time", "value": 1.5, "unit": "ms"}],
    }
    (found,) = outcomes({"results": [result]}).values()
    assert isinstance(found, Measured)
    assert (found.median, found.compile_seconds) == (1.5, 0.2)
    (bad,) = outcomes({"results": [{**result, "invalidity": "timeout"}]}).values()
    assert isinstance(bad, Failed)
    assert bad.kind is Kind.TIMEOUT
    with pytest.raises(RecordError, match="not a T4 document"):
        outcomes({"results": [{**result, "invalidity": "lost"}]})
    with pytest.raises(RecordError, match="not a T4 document"):
        outcomes([])


def test_paths_may_be_text_and_foreign_files_are_kept(tmp_path):
    """A file in the way that is no T4 document is not lost; a cut one is refused with the reason."""
    path = tmp_path / "out.json"
    path.write_text("mine")
    write(record(), str(path))
    assert set(read(str(path))) == set(record().outcomes)
    assert [p.read_text() for p in tmp_path.glob("out.kept-*")] == ["mine"]
    path.write_text(path.read_text()[:50])
    with pytest.raises(RecordError, match="cut short"):
        read(str(path))
