"""Helpers for the tests of the scripts in dev/."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def root():
    """The root of the tree."""
    return ROOT


@pytest.fixture
def run():
    """Runs a command in the root, without a terminal, and returns its completed process."""

    # These tests are themselves started by make, which would make a make within announce its folders, and run beside others by
    # pytest-xdist, whose names a run within would take for its own.
    clean = {
        name: value for name, value in os.environ.items()
        if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS") and not name.startswith("PYTEST_XDIST_")
    }

    def run(*command, env=None, cwd=ROOT, timeout=120):
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**clean, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def script():
    """Loads a Python script of dev/ as a module."""

    def load(name):
        loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "dev" / name))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    return load
