"""The plugins of the suite: a skip that is not listed fails, and slow tests keep to a budget."""

import pytest

INI = """
[pytest]
markers =
    slow: takes long
"""


@pytest.fixture
def suite(pytester):
    """Return a function that runs pytest in another folder, with this suite's plugins."""
    pytester.makeini(INI)
    (pytester.path / "tests").mkdir()

    def run(*arguments):
        plugins = ["-p", "skip_list", "-p", "slow_budget", "-p", "no:randomly", "-p", "no:cacheprovider"]
        return pytester.runpytest_inprocess(*plugins, *arguments)

    return run


def test_a_skip_fails_unless_its_reason_is_listed(pytester, suite):
    pytester.makepyfile(
        """
        import pytest

        def test_skips():
            pytest.skip("it is Monday")

        @pytest.mark.skipif(True, reason="there is no moon")
        def test_marked():
            pass

        @pytest.mark.xfail
        def test_expected_failure():
            raise ValueError
        """
    )
    found = suite()
    found.assert_outcomes(failed=1, errors=1, xfailed=1)
    found.stdout.fnmatch_lines(["*skipped for a reason that is not in tests/skips.txt: it is Monday"])
    (pytester.path / "tests" / "skips.txt").write_text("# days\nit is \\w+day\n\nthere is no (moon|sun)\n")
    suite().assert_outcomes(skipped=2, xfailed=1)


def test_a_file_that_skips_itself_fails_unless_its_reason_is_listed(pytester, suite):
    pytester.makepyfile('import pytest\npytest.skip("nothing here", allow_module_level=True)')
    suite().assert_outcomes(errors=1)
    (pytester.path / "tests" / "skips.txt").write_text("nothing here\n")
    suite().assert_outcomes(skipped=1)


def test_slow_tests_run_shortest_first_as_far_as_the_minutes_reach(pytester, suite):
    pytester.makepyfile(
        test_times="""
        import pytest

        @pytest.mark.slow
        @pytest.mark.parametrize("case", [1, 2])
        def test_short(case):
            pass

        @pytest.mark.slow
        def test_middle():
            pass

        @pytest.mark.slow
        def test_long():
            raise ValueError

        @pytest.mark.slow
        def test_new():
            raise ValueError

        def test_fast():
            raise ValueError
        """
    )
    record = pytester.path / "tests" / "slow_seconds.csv"
    seconds = {"test_short": 20, "test_middle": 40, "test_long": 60, "test_gone": 1}
    lines = [f"test_times.py::{test},{took}" for test, took in seconds.items()]
    record.write_text("\n".join(["test,seconds", *lines]) + "\n")
    found = suite("--slow-minutes", "1")
    found.assert_outcomes(passed=3, deselected=3)
    found.stdout.fnmatch_lines(
        [
            "    20.0 s  test_times.py::test_short",
            "    40.0 s  test_times.py::test_middle",
            "  left out  test_times.py::test_long (60.0 s)",
            "  left out  test_times.py::test_new (no recorded time)",
        ]
    )


def test_what_slow_tests_took_is_recorded_and_other_records_stay(pytester, suite):
    pytester.makepyfile(
        test_times="""
        import time

        import pytest

        @pytest.mark.slow
        @pytest.mark.parametrize("case", [1, 2])
        def test_short(case):
            end = time.process_time() + 0.4
            while time.process_time() < end:
                pass

        def test_fast():
            pass
        """
    )
    record = pytester.path / "tests" / "slow_seconds.csv"
    record.write_text("test,seconds\ntest_times.py::test_other,7.0\n")
    suite("--record-slow")
    lines = [line.split(",") for line in record.read_text().splitlines()]
    assert [test for test, _ in lines] == ["test", "test_times.py::test_other", "test_times.py::test_short"]
    assert lines[1][1] == "7.0"
    assert 0.8 <= float(lines[2][1]) < 5  # both parameters, and what pytest itself takes
