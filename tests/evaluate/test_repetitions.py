import numpy as np
import pytest

from seminaive.errors import InputError
from seminaive.evaluate.repetitions import run_repetitions

UNITS = [{"setting": setting, "repetition": r} for setting in ("a", "b") for r in range(5)]


def simulate(setting, repetition):
    rng = np.random.default_rng([ord(setting), repetition])
    return [{"method": method, "loss": float(rng.uniform())} for method in ("one", "two")]


def refuse(setting, repetition):
    raise AssertionError(f"{setting} {repetition} is in the file already")


def test_every_unit_gives_its_records_with_the_unit_in_front():
    frame = run_repetitions(UNITS, simulate)
    assert frame.columns.tolist() == ["setting", "repetition", "method", "loss"]
    assert len(frame) == 20


def test_a_cut_file_is_completed_to_the_same_bytes_in_any_number_of_processes(tmp_path):
    whole, cut, parallel = tmp_path / "whole", tmp_path / "cut", tmp_path / "parallel"
    expected = run_repetitions(UNITS, simulate, path=whole)
    cut.write_bytes(whole.read_bytes()[:400])
    assert run_repetitions(UNITS, simulate, path=cut).equals(expected)
    run_repetitions(UNITS, simulate, path=parallel, n_jobs=2)
    assert whole.read_bytes() == cut.read_bytes() == parallel.read_bytes()


def interrupted(setting, repetition):
    if (setting, repetition) == ("b", 1):
        raise KeyboardInterrupt
    return simulate(setting, repetition)


def test_a_run_may_be_interrupted_more_than_once(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run_repetitions(UNITS, simulate, path=whole)
    cut.write_bytes(whole.read_bytes()[:400])
    with pytest.raises(KeyboardInterrupt):
        run_repetitions(UNITS, interrupted, path=cut)
    run_repetitions(UNITS, simulate, path=cut)
    assert whole.read_bytes() == cut.read_bytes()


def test_finished_units_are_not_run_again_and_fewer_may_be_asked_for(tmp_path):
    expected = run_repetitions(UNITS, simulate, path=tmp_path / "results")
    assert run_repetitions(UNITS, refuse, path=tmp_path / "results").equals(expected)
    before = (tmp_path / "results").read_bytes()
    assert len(run_repetitions(UNITS[:3], refuse, path=tmp_path / "results")) == 6
    assert (tmp_path / "results").read_bytes() == before


def test_units_that_cannot_be_told_apart_are_refused():
    with pytest.raises(InputError, match="number the repetitions"):
        run_repetitions([UNITS[0], UNITS[0]], simulate)
