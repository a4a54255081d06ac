"""Build the wheels and sdists of both packages, install each where nothing else is, and use it once.

The environments see the packages of the running one, so that dependencies are not downloaded again; of this
repository they hold the built ones only. ``python .ci/smoke.py`` from a clone.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXPERIMENTS = ROOT / "packages" / "experiments"
DEPENDENCIES = ROOT / ".venv"
LARGEST_WHEEL = 2_000_000
USE = """
import pathlib, seminaive
from seminaive import NaiveBayes
assert pathlib.Path(seminaive.__file__).is_relative_to({environment!r}), seminaive.__file__
model = NaiveBayes().fit([["a", 1.0], ["b", 2.0]] * 20, [0, 1] * 20)
assert model.predict([["a", 1.1]]) == [0]
"""
COMPARE = ("compare", "iris", "--models", "naive-bayes,class-shares", "--folds", "2")
REPRODUCE = ("reproduce", "--list")
ANSWER = "is part of seminaive-experiments: pip install"


def run(*command: object, **options: object) -> None:
    """Run a command, and say which one."""
    sys.stdout.write(f"+ {' '.join(map(str, command))}\n")
    sys.stdout.flush()
    subprocess.run([str(part) for part in command], check=True, **options)  # noqa: S603 - our own commands


def refused(answer: str, *command: object, **options: object) -> None:
    """Run a command that has to fail with an answer."""
    sys.stdout.write(f"+ {' '.join(map(str, command))} (refused)\n")
    sys.stdout.flush()
    done = subprocess.run(  # noqa: S603 - our own commands
        [str(part) for part in command], check=False, text=True, capture_output=True, **options
    )
    if done.returncode == 0 or answer not in done.stderr + done.stdout:
        sys.exit(f"expected a failure that says {answer!r}, got:\n{done.stdout}{done.stderr}")


def packages_of(python: Path) -> str:
    """Return the folder of an environment's packages."""
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.check_output([str(python), "-c", where], text=True).strip()  # noqa: S603


def check_size(folder: Path) -> None:
    """Refuse a wheel of seminaive that has become too large to be installed for a first look."""
    for wheel in folder.glob("*.whl"):
        sys.stdout.write(f"{wheel.name}: {wheel.stat().st_size:,} bytes\n")
    (wheel,) = folder.glob("seminaive-*.whl")
    size = wheel.stat().st_size
    if size > LARGEST_WHEEL:
        sys.exit(f"{wheel.name} has {size:,} bytes, and {LARGEST_WHEEL:,} are allowed: what was added to it?")


def use(built: Path, environment: Path, bare: dict[str, str]) -> None:
    """Use the core that an environment holds: fit, predict, score, export."""
    run(environment / "bin" / "python", "-c", USE.format(environment=str(environment)), env=bare, cwd=built)
    (built / "t.csv").write_text("a;b;y\n" + "1,5;x;p\n2,5;z;q\n" * 20)
    command = [environment / "bin" / "seminaive"]
    fit = ["fit", "t.csv", "--target", "y", "--out", "m", "--model", "naive-bayes"]
    run(*command, *fit, env=bare, cwd=built)
    run(*command, "predict", "m", "t.csv", "--keep", "y", "--out", "p.csv", env=bare, cwd=built)
    run(*command, "score", "p.csv", "--truth", "y", env=bare, cwd=built)
    run(*command, "explain", "m", env=bare, cwd=built)
    run(*command, "export", "m", "--to", "html", "--out", "c.html", env=bare, cwd=built)


def main() -> None:
    """Build, install and use both packages in both forms."""
    python = DEPENDENCIES / "bin" / "python"
    python = python if python.exists() else Path(sys.executable)
    with tempfile.TemporaryDirectory(prefix="seminaive-smoke-") as folder:
        built = Path(folder).resolve()
        run(python, "-m", "pip", "install", "--quiet", "--target", built / "tools", "build", "hatchling")
        tools = {**os.environ, "PYTHONPATH": str(built / "tools")}
        for source in (ROOT, EXPERIMENTS):
            run(python, "-m", "build", "--no-isolation", "--outdir", built / "dist", source, env=tools)
        check_size(built / "dist")
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for ending in ("py3-none-any.whl", ".tar.gz"):
            (core,) = (built / "dist").glob(f"seminaive-*{ending}")
            (experiments,) = (built / "dist").glob(f"seminaive_experiments-*{ending}")
            environment = built / ending.strip(".").replace(".", "-")
            venv.create(environment, with_pip=True)
            own = environment / "bin" / "python"
            # Dependencies come from the running environment, after the packages of this one.
            Path(packages_of(own), "dependencies.pth").write_text(packages_of(python) + "\n")
            install = [own, "-m", "pip", "install", "--quiet", "--no-build-isolation"]
            run(*install, "--no-deps", core, env=tools)
            use(built, environment, bare)
            command = [environment / "bin" / "seminaive"]
            for missing in (COMPARE, REPRODUCE, ("demo", "--help")):
                refused(ANSWER, *command, *missing, env=bare, cwd=built)
            run(*install, "--no-deps", experiments, env=tools)
            run(*command, *COMPARE, env=bare, cwd=built)
            run(*command, *REPRODUCE, env=bare, cwd=built, stdout=subprocess.DEVNULL)
            run(own, "-m", "pip", "check", env=bare)
    sys.stdout.write("the wheels and the sdists install and run\n")


if __name__ == "__main__":
    main()
