import sys
import types

from threadpoolctl import threadpool_info

from seminaive.evaluate.one_thread import _controller, one_thread


def test_every_loaded_library_has_one_thread_and_its_own_number_afterwards():
    before = [pool["num_threads"] for pool in threadpool_info()]
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_libraries_are_looked_for_again_once_something_was_imported(monkeypatch):
    one_thread()
    found = _controller(len(sys.modules))
    assert _controller(len(sys.modules)) is found
    monkeypatch.setitem(sys.modules, "imported_just_now", types.ModuleType("imported_just_now"))
    assert _controller(len(sys.modules)) is not found
