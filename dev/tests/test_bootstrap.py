"""dev/bootstrap on machines that lack something, played by a PATH of small programs."""

import os
import shutil

import pytest

TOOLS = ["bash", "sed", "sort", "head", "cmp", "cat", "dirname", "env", "rm", "cp", "id", "test"]


@pytest.fixture
def machine(tmp_path, run):
    """A machine of a few programs; `add` puts one more on its PATH, `bootstrap` runs the script there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))

    class Machine:
        calls = tmp_path / "calls"

        def add(self, name, body):
            program = folder / name
            program.unlink(missing_ok=True)
            program.write_text(f"#!{shutil.which('bash')}\n{body}\n")
            program.chmod(0o755)

        def bootstrap(self, purpose="run", **env):
            clean = {"PATH": str(folder), "CI": "", "YES": "", **env}
            return run(shutil.which("bash"), "dev/bootstrap", purpose, env=clean)

    machine = Machine()
    machine.add("swift", "echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'")
    machine.add("make", "exit 0")
    return machine


def test_a_ready_machine_hears_nothing(machine):
    machine.add("git", "exit 0")
    if not os.path.exists("/usr/include/sqlite3.h") and not os.path.exists("/usr/local/include/sqlite3.h"):
        pytest.skip("SQLite's headers are not here")
    result = machine.bootstrap()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_without_swift_it_says_which_version_and_where_from(machine):
    machine.add("swift", "exit 1")
    os.unlink(shutil.which("swift", path=str(machine.calls.parent / "bin")))
    result = machine.bootstrap()
    assert result.returncode == 1
    assert "Swift is missing" in result.stderr and "6.2" in result.stderr and "swift.org" in result.stderr


@pytest.mark.parametrize("version", ["5.10.1", "6.1.3", "6.0"])
def test_an_old_swift_is_refused_by_its_version(machine, version):
    machine.add("swift", f"echo 'Swift version {version} (swift-{version}-RELEASE)'")
    result = machine.bootstrap()
    assert result.returncode == 1
    assert f"Swift {version} is too old: 6.2" in result.stderr


@pytest.mark.parametrize("version", ["6.2", "6.2.1", "6.10", "7.0.1"])
def test_a_newer_swift_is_let_through(machine, version):
    machine.add("swift", f"echo 'Swift version {version} (swift-{version}-RELEASE)'")
    result = machine.bootstrap()
    assert "too old" not in result.stderr


def test_without_a_terminal_it_lists_what_is_missing_and_asks_nobody(machine):
    machine.add("apt-get", f"echo called >> {machine.calls}")
    result = machine.bootstrap()
    assert result.returncode == 1
    assert "missing system packages: git" in result.stderr
    assert "YES=1" in result.stderr
    assert not machine.calls.exists()


def test_what_only_the_tests_need_is_wanted_for_them_alone(machine):
    wanted = "strace curl openssl faketime nodejs nghttp2-client nghttp2-server golang-go default-jre-headless"
    missing = machine.bootstrap("test").stderr
    assert wanted in missing and "chromium-headless-shell firefox-esr" in missing
    assert "missing system packages: git" in (ready := machine.bootstrap("run").stderr) and "faketime" not in ready


@pytest.mark.parametrize("consent", [{"YES": "1"}, {"CI": "1"}])
def test_with_consent_it_installs_what_is_missing_and_nothing_else(machine, consent):
    binary = machine.calls.parent / "bin" / "git"
    machine.add("sudo", '"$@"')
    machine.add("id", "echo 1000")
    machine.add(
        "apt-get",
        f'echo "$*" >> {machine.calls}\n[ "$1" = update ] || {{ echo "exit 0" > {binary}; /bin/chmod +x {binary}; }}',
    )
    result = machine.bootstrap(**consent)
    assert result.returncode == 0, result.stderr
    calls = machine.calls.read_text().splitlines()
    assert calls[0] == "update -qq"
    assert calls[1].startswith("install -y") and calls[1].split()[4:] == ["git"]


def test_an_installation_that_brings_nothing_is_a_failure(machine):
    machine.add("sudo", '"$@"')
    machine.add("apt-get", "exit 0")
    result = machine.bootstrap(YES="1")
    assert result.returncode == 1
    assert "still missing after the installation: git" in result.stderr


def test_without_root_and_sudo_it_says_what_root_has_to_do(machine):
    machine.add("id", "echo 1000")
    machine.add("apt-get", "exit 0")
    result = machine.bootstrap(YES="1")
    assert result.returncode == 1
    assert "As root, run: apt-get install git" in result.stderr


def test_an_unknown_purpose_is_refused(machine):
    result = machine.bootstrap("lunch")
    assert result.returncode == 2
    assert "dev/bootstrap run|test" in result.stderr
