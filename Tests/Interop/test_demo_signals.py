"""`tidings demo` ends what it has started, whatever ends it: Ctrl-C, a signal, or the terminal that is closed."""

import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest
from conftest import tool


def children(pid: int) -> list[int]:
    """The process's children and theirs."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            found += [int(child), *children(int(child))]
    return found


def is_running(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_nothing_goes_on_running_after_a_signal(tmp_path, number):
    demo = subprocess.Popen(
        [tool(), "demo"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)})
    started: list[int] = []
    try:
        # Server, local APNs and the first phone's app.
        for _ in range(600):
            started = children(demo.pid)
            if len(started) >= 4:
                break
            assert demo.poll() is None, demo.stderr.read().decode()
            time.sleep(0.1)
        assert len(started) >= 4
        demo.send_signal(number)
        assert demo.wait(timeout=60) == 128 + number
        for _ in range(100):
            if not any(is_running(pid) for pid in started):
                break
            time.sleep(0.1)
        assert [pid for pid in started if is_running(pid)] == []
        assert list(tmp_path.glob("tidings-*")) == []
    finally:
        for pid in [demo.pid, *started]:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        demo.wait()


def test_a_second_one_on_the_same_ports_is_refused_with_a_sentence(tmp_path):
    with socket.socket() as busy:
        busy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            busy.bind(("127.0.0.1", 7480))
            busy.listen()
        except OSError:
            pass  # Somebody else has it: as good.
        demo = subprocess.run(
            [tool(), "demo", "--stay"], capture_output=True, text=True, timeout=60,
            env={**os.environ, "TMPDIR": str(tmp_path)})
    assert demo.returncode == 1
    assert "on 127.0.0.1 is in use" in demo.stderr
    assert list(tmp_path.iterdir()) == []
