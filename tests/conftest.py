"""What pytest leaves alone; the fixtures that all tests share are in plugins/shared_fixtures.py."""

# A script that the tests run in a process of its own; it imports the file beside it.
collect_ignore = ["models/mutants.py"]
