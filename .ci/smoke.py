"""Build the wheel and the sdist, install each where nothing else is, and use it once.

The environments see the packages of the running one, so that dependencies are not downloaded again; of
seminaive they hold the built one only. ``python .ci/smoke.py`` from a clone.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
DEPENDENCIES = ROOT / ".venv"
LARGEST_WHEEL = 2_000_000
USE = """
import pathlib, seminaive
from seminaive import NaiveBayes
assert pathlib.Path(seminaive.__file__).is_relative_to({environment!r}), seminaive.__file__
model = NaiveBayes().fit([["a", 1.0], ["b", 2.0]] * 20, [0, 1] * 20)
assert model.predict([["a", 1.1]]) == [0]
"""


def run(*command: object, **options: object) -> None:
    """Run a command, and say which one."""
    sys.stdout.write(f"+ {' '.join(map(str, command))}\n")
    sys.stdout.flush()
    subprocess.run([str(part) for part in command], check=True, **options)  # noqa: S603 - our own commands


def packages_of(python: Path) -> str:
    """Return the folder of an environment's packages."""
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.check_output([str(python), "-c", where], text=True).strip()  # noqa: S603


def check_size(folder: Path) -> None:
    """Refuse a wheel that has become too large to be installed for a first look."""
    (wheel,) = folder.glob("*.whl")
    size = wheel.stat().st_size
    sys.stdout.write(f"{wheel.name}: {size:,} bytes\n")
    if size > LARGEST_WHEEL:
        sys.exit(f"{wheel.name} has {size:,} bytes, and {LARGEST_WHEEL:,} are allowed: what was added to it?")


def main() -> None:
    """Build, install and use both forms."""
    python = DEPENDENCIES / "bin" / "python"
    python = python if python.exists() else Path(sys.executable)
    with tempfile.TemporaryDirectory(prefix="seminaive-smoke-") as folder:
        built = Path(folder)
        run(python, "-m", "pip", "install", "--quiet", "--target", built / "tools", "build", "hatchling")
        tools = {**os.environ, "PYTHONPATH": str(built / "tools")}
        run(python, "-m", "build", "--no-isolation", "--outdir", built / "dist", ROOT, env=tools)
        check_size(built / "dist")
        for pattern in ("*.whl", "*.tar.gz"):
            (package,) = (built / "dist").glob(pattern)
            environment = (built / pattern.strip("*.").replace(".", "-")).resolve()
            venv.create(environment, with_pip=True)
            own = environment / "bin" / "python"
            # Dependencies come from the running environment, after the packages of this one.
            Path(packages_of(own), "dependencies.pth").write_text(packages_of(python) + "\n")
            options = ["--quiet", "--no-deps", "--no-build-isolation"]
            run(own, "-m", "pip", "install", *options, package, env=tools)
            bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            run(own, "-c", USE.format(environment=str(environment)), env=bare, cwd=built)
            (built / "t.csv").write_text("a;b;y\n" + "1,5;x;p\n2,5;z;q\n" * 20)
            command = [environment / "bin" / "seminaive"]
            fit = ["fit", "t.csv", "--target", "y", "--out", "m", "--model", "naive-bayes"]
            run(*command, *fit, env=bare, cwd=built)
            run(*command, "predict", "m", "t.csv", "--keep", "y", "--out", "p.csv", env=bare, cwd=built)
            run(*command, "score", "p.csv", "--truth", "y", env=bare, cwd=built)
            run(*command, "export", "m", "--to", "html", "--out", "c.html", env=bare, cwd=built)
    sys.stdout.write("the wheel and the sdist install and run\n")


if __name__ == "__main__":
    main()
