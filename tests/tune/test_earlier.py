"""What of an earlier record still holds: by reference, tolerance, timeouts and given grids."""

from phobos_nb.compilation.remembered import Identity
from phobos_nb.tune.earlier import circumstances, grids_of, still_valid
from phobos_nb.tune.outcome import Constants, Failed, Kind, Measured
from phobos_nb.tune.records import Record
from phobos_nb.tune.settings import Settings

IDENTITY = Identity("k", "f", {}, {"N": 4}, {"X": "f32"}, 32, "cpu", "sm_80")
RIGHT = Measured({"T": 1}, (1.0,), error=1e-7)
WRONG = Failed({"T": 2}, Kind.WRONG, "off")
LATE = Failed({"T": 3}, Kind.TIMEOUT, "late")
REFUSED = Failed({"T": 4}, Kind.CONSTRAINT, "no room")


def record(settings: Settings, checked: str = "the NumPy meaning", **more: object) -> Record:
    outcomes = {o.label: o for o in (RIGHT, WRONG, LATE, REFUSED)}
    written = {**circumstances(settings), **more}
    return Record(IDENTITY, {"T": (1, 2, 3, 4)}, outcomes, {"T": 1}, checked=checked, settings=written)


def no_grid(constants: Constants) -> str:
    return ""


def left(found: Record) -> list[str]:
    return sorted(found.outcomes)


def test_under_the_same_settings_everything_holds():
    """The record itself."""
    found = record(Settings())
    assert still_valid(found, Settings(), no_grid) is found


def test_wrong_answers_hold_for_the_same_meaning_and_tolerance_alone():
    """A reference given then or now, or another tolerance, makes them worth another try."""
    rest = ["T=1", "T=3", "T=4"]
    assert left(still_valid(record(Settings(), "the given reference"), Settings(), no_grid)) == rest
    assert left(still_valid(record(Settings()), Settings(reference={}), no_grid)) == rest
    assert left(still_valid(record(Settings(tolerance=1e-9)), Settings(), no_grid)) == rest


def test_a_measured_answer_holds_up_to_the_tolerance_of_now():
    """An error of 1e-7 is right for 1e-6 and unknown for 1e-8: then there is no winner either."""
    then = Settings(tolerance=1e-6)
    assert "T=1" in left(still_valid(record(then), then, no_grid))
    strict = still_valid(record(then), Settings(tolerance=1e-8), no_grid)
    assert left(strict) == ["T=3", "T=4"]
    assert strict.best is None


def test_a_timeout_holds_for_no_longer_ones():
    """Twice the seconds, to run or to compile, are worth a try; half of them are not."""
    found = record(Settings(timeout=10.0))
    assert left(still_valid(found, Settings(timeout=5.0), no_grid)) == ["T=1", "T=2", "T=3", "T=4"]
    assert left(still_valid(found, Settings(timeout=20.0), no_grid)) == ["T=1", "T=2", "T=4"]
    longer = Settings(timeout=10.0, compile_timeout=240.0)
    assert left(still_valid(found, longer, no_grid)) == ["T=1", "T=2", "T=4"]


def test_what_lost_something_is_no_whole_search():
    """So that the next search looks at what is missing."""
    found = still_valid(record(Settings(timeout=1.0)), Settings(), no_grid)
    assert found.settings["strategy"] != Settings().strategy


def test_times_hold_for_the_grid_they_were_taken_with():
    """A configuration whose given grid has changed is measured again; the others are not."""

    def given(constants: Constants) -> str:
        return f"{8 // constants['T']},1,1"

    grids = grids_of(record(Settings()).outcomes, given)
    assert grids == {"T=1": "8,1,1", "T=2": "4,1,1", "T=3": "2,1,1", "T=4": "2,1,1"}
    changed = {**grids, "T=1": "3,1,1"}
    assert left(still_valid(record(Settings(), grids=changed), Settings(), given)) == [
        "T=2",
        "T=3",
        "T=4",
    ]
