"""Plugins of the test suite, in tests/plugins, and pytest's plugin by which they are tested."""

pytest_plugins = ["skip_list", "slow_budget", "pytester"]
