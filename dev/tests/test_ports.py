"""Tests/ports.py: a port that was given to a server is not taken by anything else before the server listens."""

import importlib.util
import socket
import subprocess
import sys

import pytest

TAKE = "import sys; sys.path.insert(0, 'Tests'); import ports; print(ports.free_port()); input()"


@pytest.fixture
def ports(root):
    spec = importlib.util.spec_from_file_location("ports_of_the_tests", root / "Tests" / "ports.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_port_is_one_that_the_system_gives_to_connections(ports):
    found = ports.Ports()
    given = [found.take() for _ in range(3 * ports.PART)]
    assert len(set(given)) == len(given)
    assert ports.LOWEST < min(given) and max(given) < ports.border()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getsockname()[1] >= ports.border()


def test_a_port_on_which_somebody_listens_is_passed_over(ports):
    found = ports.Ports()
    following = found.take() + 1
    with socket.create_server(("127.0.0.1", following)):
        # Not always the next one: a connection that has ended may still hold that for a minute.
        assert found.take() > following


def test_two_processes_take_from_different_parts(ports, root):
    both = [
        subprocess.Popen([sys.executable, "-c", TAKE], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    parts = {int(process.stdout.readline()) // ports.PART for process in both}
    for process in both:
        process.communicate("\n")
    assert len(parts) == 2


def test_without_a_port_left_it_says_so(ports, monkeypatch):
    monkeypatch.setattr(ports, "border", lambda: ports.LOWEST)
    with pytest.raises(RuntimeError, match="no free ports"):
        ports.Ports().take()
