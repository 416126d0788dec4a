"""The sessions of this workspace: ``python -m nox -s demo``, ``python -m nox -s tests``, and their parts.

Sessions are thin: each installs what it needs under ``constraints.txt`` and runs one or two commands.
``tests`` is the sum: lint, types, layers, unit tests and conformance on every provider of the workspace.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2024.10.9"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["tests"]

PACKAGES = [
    "intent-core", "intent-provider-cupy", "intent-provider-cutile", "intent-provider-triton", "intent-testkit",
]  # fmt: skip
EXTRAS = {"intent-provider-cupy": "[nvrtc]"}  # its builds for GPUs are tested
UNIT_TESTS = [f"{package}/tests" for package in PACKAGES] + ["tools/tests"]
# Neighbours share compiled artifacts: each worker starts with half of the tests, in order.
PYTEST = ("pytest", "-n", "2", "--dist", "worksteal", "--tb", "short")
LINTERS = ["ruff", "import-linter", "towncrier"]
LINT_COMMANDS = [
    ("ruff", "check", "--output-format", "concise", "."),
    ("ruff", "format", "--check", "."),
    ("lint-imports", "--no-logo"),
    ("python", "tools/check_changes.py"),
    ("towncrier", "build", "--draft"),
]
DIST = Path("dist")


def _declared_providers() -> list[str]:
    """Names under the entry-point group ``intent.providers`` in the workspace's packages."""
    names: list[str] = []
    for package in PACKAGES:
        project = tomllib.loads(Path(package, "pyproject.toml").read_text(encoding="utf-8"))["project"]
        names += project.get("entry-points", {}).get("intent.providers", {})
    return names


PROVIDERS = _declared_providers()


def _editable() -> list[str]:
    """The packages of the workspace as pip's words."""
    return [word for package in PACKAGES for word in ("-e", f"./{package}{EXTRAS.get(package, '')}")]


def _install(session: nox.Session, *extra: str) -> None:
    """Install the packages of the workspace, editable, and ``extra``, all under the constraints."""
    session.install("-c", "constraints.txt", *_editable(), *extra)


def _conformance(provider: str) -> tuple[str, ...]:
    """The testkit, run on one provider; without a GPU it runs a GPU provider's source on the CPU."""
    return (*PYTEST, "--pyargs", "intent_testkit", "--intent-provider", provider)


def _everything(session: nox.Session) -> tuple[str, ...]:
    """Unit tests of all packages and conformance on all providers: one run, so one closing line."""
    providers = [word for name in PROVIDERS for word in ("--intent-provider", name)]
    return (*PYTEST, *UNIT_TESTS, "--pyargs", "intent_testkit", *providers, *session.posargs)


def _run_all(session: nox.Session, commands: list[tuple[str, ...]]) -> None:
    """Run every command, then fail the session if any failed, naming those that did."""
    # Workers already fill the cores; a BLAS with threads of its own would fight them.
    session.env["OPENBLAS_NUM_THREADS"] = "1"
    failed: list[str] = []
    for command in commands:
        try:
            session.run(*command)
        except CommandFailed:
            failed.append(" ".join(command))
    if failed:
        session.error("failed: " + "; ".join(failed))


@nox.session
def demo(session: nox.Session) -> None:
    """Compile and run softmax, layer norm and matmul+bias+gelu on the best provider here."""
    _install(session)
    session.run("python", "-m", "intent_testkit.demo", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Lint, types, layers, unit tests, and conformance on every provider."""
    _install(session, "pytest-xdist", "mypy", "coverage", *LINTERS)
    _run_all(session, [*LINT_COMMANDS, ("mypy",), _everything(session)])


@nox.session
@nox.parametrize("provider", PROVIDERS)
def conformance(session: nox.Session, provider: str) -> None:
    """The testkit on one provider; for a provider from elsewhere, ``pytest --intent-provider NAME``."""
    _install(session, "pytest-xdist")
    session.run(*_conformance(provider), *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Random kernels and plans; arguments after ``--`` go to the fuzzer: ``--count 2000 --seed 7``."""
    _install(session)
    session.run("python", "-m", "intent_testkit.fuzz", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Faults put into the compiler: 95 % must be found; arguments after ``--``: ``--each 40 --jobs 8``."""
    _install(session, "coverage", "mypy")  # mypy: for --types
    session.env["OPENBLAS_NUM_THREADS"] = "1"
    session.run("python", "-m", "intent_testkit.mutants", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff's rules and format, the import layers, and the changelog fragments."""
    _install(session, *LINTERS)
    _run_all(session, LINT_COMMANDS)


@nox.session
def types(session: nox.Session) -> None:
    """Mypy, strict, over src of every package."""
    _install(session, "mypy")
    session.run("mypy", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into site/; a broken link or an unlisted page is an error."""
    _install(session, "mkdocs")
    session.run("python", "tools/error_pages.py", "--check")
    session.run("python", "tools/verifier_page.py", "--check")
    session.run("mkdocs", "build", "--strict", *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build every package, install the wheels into a clean environment, run the softmax demo from there."""
    session.install("build")
    shutil.rmtree(DIST, ignore_errors=True)
    for package in PACKAGES:
        session.run("python", "-m", "build", "--outdir", str(DIST), package)
    constraints = Path("constraints.txt").resolve()
    built = [str(wheel.resolve()) for wheel in sorted(DIST.glob("*.whl"))]
    elsewhere = Path(session.create_tmp()).resolve()
    session.run("python", "-m", "venv", "--clear", str(elsewhere / "clean"))
    python = str(elsewhere / "clean" / "bin" / "python")
    session.run(python, "-m", "pip", "install", "-q", "-c", str(constraints), *built, external=True)
    session.chdir(elsewhere)
    demo_words = ("-m", "intent_testkit.demo", "--provider", "reference", "softmax")
    session.run(python, *demo_words, external=True)


@nox.session(venv_params=["--system-site-packages"])
def bench(session: nox.Session) -> None:
    """The benchmark lines of the testkit, on the machine's own torch; arguments after ``--`` choose lines."""
    _install(session)
    session.run("python", "-m", "intent_testkit.bench", *session.posargs)


@nox.session
@nox.parametrize("triton", ["3.6.0", "3.9.*"])
def nightly(session: nox.Session, triton: str) -> None:
    """Everything that ``tests`` runs with pytest, on the oldest and the newest Triton supported."""
    numpy = "numpy<2.4" if triton == "3.6.0" else "numpy"
    session.install(*_editable(), f"triton=={triton}", numpy, "pytest-xdist", "coverage")
    session.run(*_everything(session))
