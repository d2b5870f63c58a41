"""`tidings demo` ends what it has started, whatever ends it: Ctrl-C, a signal, or the terminal that is closed."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest
from conftest import tool


def processes_of(folder: pathlib.Path) -> list[int]:
    """Every process with a variable that names this folder, also one whose parent is gone: for temporary files, or as an app's home."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if bytes(folder) in (path / "environ").read_bytes():
                found.append(int(path.name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    return found


def nothing_is_left(folder: pathlib.Path):
    for _ in range(100):
        if processes_of(folder) == []:
            break
        time.sleep(0.1)
    assert processes_of(folder) == []
    assert list(folder.glob("tidings-*")) == []


@contextlib.contextmanager
def running(folder: pathlib.Path, *arguments: str, **options):
    """A command with its temporary files in the folder. What it leaves behind is killed."""
    process = subprocess.Popen([tool(), *arguments], env={**os.environ, "TMPDIR": str(folder)}, **options)
    try:
        yield process
    finally:
        for pid in processes_of(folder):
            os.kill(pid, signal.SIGKILL)
        process.wait()


def ends_with_its_reader(process: subprocess.Popen, folder: pathlib.Path):
    process.stdout.close()
    assert process.wait(timeout=15) == 128 + signal.SIGPIPE
    nothing_is_left(folder)


# With 4 the server, the local APNs and the backend run, with 5 the phones' host; before and after that the demo is about to start something.
@pytest.mark.parametrize("processes, number", [
    (4, signal.SIGHUP), (4, signal.SIGINT), *((processes, signal.SIGTERM) for processes in range(1, 7)),
])
def test_nothing_goes_on_running_after_a_signal(tmp_path, processes, number):
    with running(tmp_path, "demo", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as demo:
        deadline = time.monotonic() + 60
        # The demo itself is one of them.
        while len(processes_of(tmp_path)) <= processes:
            assert demo.poll() is None, demo.stderr.read().decode()
            assert time.monotonic() < deadline
            time.sleep(0.002)
        demo.send_signal(number)
        assert demo.wait(timeout=60) == 128 + number
        nothing_is_left(tmp_path)


def test_nothing_goes_on_running_once_nobody_reads_what_it_prints(tmp_path):
    """`tidings demo | head`: the reader ends while the demo waits and has nothing to print."""
    with running(tmp_path, "demo", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as demo:
        line = next((line for line in demo.stdout if "home button" in line), "")
        assert line, "it ended before"
        assert len(processes_of(tmp_path)) > 5
        ends_with_its_reader(demo, tmp_path)


@pytest.mark.parametrize("command, processes", [
    (["bench", "live", "--pairs", "1", "--seconds", "300"], 2), (["simulate", "--seeds", "1-1000000", "--hours", "1000"], 1),
    (["apns", "--port", "0", "--courier-port", "0", "--control-port", "0", "--channel-port", "0", "--state", "state"], 1),
    (["phone", "--folder", "phone"], 1),
])
def test_every_command_ends_with_its_reader_also_when_it_prints_nothing(tmp_path, command, processes):
    with running(
        tmp_path, *command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 60
        while len(processes_of(tmp_path)) < processes:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        ends_with_its_reader(process, tmp_path)


def test_its_phones_ask_who_signs_in_whatever_variables_there_are(tmp_path):
    variables = {"CHAT_TOKEN": "none", "CHAT_USER": "mallory", "CHAT_SERVER_URL": "ws://127.0.0.1:1", "TIDINGS_TOKEN": "none"}
    demo = subprocess.Popen(
        [tool(), "demo"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, **variables, "TMPDIR": str(tmp_path)})
    try:
        for phone in ("alice's phone", "bob's phone"):
            line = next((line for line in demo.stdout if phone in line or "failed" in line), "")
            assert "signed in on the app's screen" in line, line
            assert len(line.rstrip("\n")) <= 120, line
    finally:
        demo.send_signal(signal.SIGTERM)
        demo.communicate(timeout=60)


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
