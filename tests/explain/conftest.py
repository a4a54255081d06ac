"""Programs that exports are run in: a browser and a database server."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest


@pytest.fixture(scope="module")
def browser():
    """Return a function that opens a page in headless Chromium and returns the document it ends up with."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed: the calculator is not opened")

    def dump(path, values=None):
        link = path.as_uri() + ("" if values is None else "#" + quote(json.dumps(values)))
        command = [found, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
                   "--window-size=1280,900", "--dump-dom", link]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    return dump


class Server:
    """A PostgreSQL server."""

    def __init__(self, run):
        self.run = run

    def __call__(self, text):
        return self.run(text)

    def load(self, X):
        """Make the table ``rows`` of a frame."""
        return self.run(as_copied(X))


def as_copied(X):
    """Return a table as PostgreSQL copies it in: a CREATE TABLE, and the rows as tab-separated text."""
    kinds = {"b": "boolean", "i": "bigint", "f": "double precision"}
    columns = [
        '"' + str(name).replace('"', '""') + f'" {kinds.get(column.dtype.kind, "text")}'
        for name, column in X.items()
    ]

    def fields(column):
        absent = "NaN" if column.dtype.kind == "f" else "\\N"
        escapes = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
        return [absent if v is None or v != v else str(v).translate(escapes) for v in column.astype(object)]

    lines = ["\t".join(row) for row in zip(*map(fields, (column for _, column in X.items())), strict=True)]
    create = f"DROP TABLE IF EXISTS rows; CREATE TABLE rows ({', '.join(columns)});"
    return "\n".join([create, "COPY rows FROM stdin;", *lines, "\\.", ""])


@pytest.fixture(scope="module")
def postgresql():
    """Return a server behind a socket in a new folder; called with SQL, it runs it by psql."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    control = shutil.which("pg_ctl") or (found[-1] if found else None)
    if control is None or shutil.which("psql") is None:
        pytest.skip("PostgreSQL is not installed: its SQL is not run")
    folder = Path(tempfile.mkdtemp())
    # The server refuses to run as root.
    user = {"user": "postgres"} if os.getuid() == 0 else {}
    if user:
        shutil.chown(folder, "postgres")

    def run(*command, text=""):
        done = subprocess.run(
            [*map(str, command)], input=text, capture_output=True, text=True, check=False, timeout=300,
            cwd=folder, env={**os.environ, "PGHOST": str(folder), "PGDATABASE": "postgres"}, **user,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(control, "-D", folder / "data", "-o", "--auth=trust --encoding=UTF8 --locale=C --no-sync", "initdb")
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    run(control, "-D", folder / "data", "-o", options, "-l", folder / "log", "-w", "start")
    yield Server(lambda text: run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", text=text))
    run(control, "-D", folder / "data", "-m", "immediate", "stop")
    shutil.rmtree(folder)
