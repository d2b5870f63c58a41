"""One server, honest phones beside it, attackers, and what the server uses up: the ground on which an attack is tried."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pathlib
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field

from conftest import ROOT, TOPIC, Site
from tidings_client import Client
from wire import HANDSHAKE, user_token

sys.path.insert(0, str(ROOT / "Tests" / "Faults"))
from disk import Disk

HERE = pathlib.Path(__file__).parent
# The long form of every attack: `make prove-abuse`.
IS_LONG = os.environ.get("TIDINGS_ABUSE") == "long"
PHONES, FROZEN, HEARERS, GROUPS = 200, 8, 100, 10
# Messages a second, of all honest phones together.
RATE = 60
# What honest phones may feel of an attack: the 99th of a hundred, from the send to its acknowledgement and to the other phone.
P99_MS = 250
# A push is on the phone by then, at the 99th of a hundred.
PUSH_P99_MS = 5_000
# What a server may take more than before, for as long as it is attacked, and afterwards.
PEAK_BYTES, LASTING_BYTES = 128 << 20, 96 << 20
BASELINE_SECONDS, ATTACK_SECONDS = (10, 30) if IS_LONG else (2, 3)

# Every message is a push of its own and at once; phones that hang up are gone soon.
SETTINGS = {
    "lease": {"grace_milliseconds": 500},
    "token": {"grace_milliseconds": 1_000},
    "policy": {"storm_limit": 0, "active_elsewhere_milliseconds": 0},
    "drain": {"spread_milliseconds": 100, "wait_milliseconds": 500},
}


def mallory(attack: str) -> str:
    """Who attacks: another person in each attack."""
    return f"mallory-{attack.replace(' ', '-')}"


def accomplice(attack: str) -> str:
    """Who helps: another person in each attack, too."""
    return f"accomplice-{attack.replace(' ', '-')}"


class Talker:
    """A child process that is spoken to in lines, and ended by its own id."""

    def __init__(self, arguments: list[str], log: pathlib.Path):
        self._file = open(log, "ab")
        self.log = log
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._file, cwd=HERE, text=True)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def say(self, line: str):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def hear(self, seconds: float) -> str:
        """The next line; fails if none comes."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            line = ""
        assert line, f"{self.process.args[1:3]} says nothing: {self.log.read_text()[-2_000:]}"
        return line.strip()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self._file.close()


@dataclass
class Use:
    """What a server used in a window."""

    rss_before: int = 0
    rss_peak: int = 0
    rss_after: int = 0
    files_before: int = 0
    files_peak: int = 0
    files_after: int = 0
    cpu_seconds: float = 0
    seconds: float = 0


class Watch:
    """Looks at a process ten times a second."""

    def __init__(self, pid: int):
        self.pid = pid
        self.use = Use(rss_before=self._rss(), files_before=self._files())
        self.use.rss_peak, self.use.files_peak = self.use.rss_before, self.use.files_before
        self._cpu, self._at = self._cpu_seconds(), time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self):
        with contextlib.suppress(OSError, TypeError):
            while not self._is_over.wait(0.1):
                self.use.rss_peak = max(self.use.rss_peak, self._rss())
                self.use.files_peak = max(self.use.files_peak, self._files())

    def stop(self) -> Use:
        self._is_over.set()
        self._thread.join()
        with contextlib.suppress(OSError, TypeError):
            self.use.cpu_seconds = self._cpu_seconds() - self._cpu
            self.use.rss_after, self.use.files_after = self._rss(), self._files()
        self.use.seconds = time.monotonic() - self._at
        return self.use

    def _rss(self) -> int:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)[1]) << 10

    def _files(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def _cpu_seconds(self) -> float:
        # proc(5): user and system time are the 14th and 15th field.
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def too_slow(figures: dict) -> list[tuple[str, float, int]]:
    """Kinds of messages that took too long, with their 99th of a hundred and its bound.

    The short form only prints times: it runs on machines that are busy with something else, too.
    """
    bounds = {kind: PUSH_P99_MS if kind == "push" else P99_MS for kind in figures["times_ms"]}
    return [
        (kind, times["p99"], bounds[kind]) for kind, times in figures["times_ms"].items()
        if IS_LONG and times["n"] and times["p99"] > bounds[kind]]


@dataclass
class Seen:
    """What was seen of one attack."""

    ground: Ground
    name: str
    honest: dict
    baseline: dict
    use: Use
    attackers: list[dict] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, int]:
        """What the server said to all attackers, by code, kind or status."""
        found: dict[str, int] = {}
        for attacker in self.attackers:
            for answer, count in attacker["answers"].items():
                found[answer] = found.get(answer, 0) + count
        return {answer: count for answer, count in found.items() if count}

    @property
    def tried(self) -> int:
        return sum(attacker["tried"] for attacker in self.attackers)

    def faults(self, expected: set[str]) -> list[str]:
        """What does not hold; `expected`: answers of which the attackers must have heard one, empty for none in particular."""
        faults = [f"{kind}: p99 {p99:.0f} ms, at most {bound} allowed" for kind, p99, bound in too_slow(self.honest)]
        if self.honest["missing"]:
            faults.append(f"{self.honest['missing']} arrivals missing after the attack")
        for what, count in {**self.honest["counts"], **self.honest["counts_after"]}.items():
            if what != "foreign signals":
                faults.append(f"honest phones: {count} {what}")
        if (grown := self.use.rss_peak - self.use.rss_before) > PEAK_BYTES:
            faults.append(f"memory grew by {grown >> 20} MiB, at most {PEAK_BYTES >> 20} allowed")
        if expected and not expected & set(self.answers):
            faults.append(f"the attacker heard none of {sorted(expected)}")
        if self.attackers and not self.tried:
            faults.append("the attacker tried nothing: the machine is too busy")
        return faults

    def line(self) -> str:
        """One line of figures."""
        def times(of: dict) -> str:
            return ", ".join(
                f"{kind} {value.get('p50', 0):.0f}/{value.get('p95', 0):.0f}/{value.get('p99', 0):.0f}/{value.get('max', 0):.0f}"
                for kind, value in of["times_ms"].items())

        use = self.use
        answers = ", ".join(f"{answer} {count}" for answer, count in sorted(self.answers.items(), key=lambda pair: -pair[1])[:8])
        counts = ", ".join(f"{count} {what}" for what, count in self.honest["counts_after"].items())
        return (
            f"abuse {self.name}: p50/p95/p99/max ms {times(self.honest)}; without attack {times(self.baseline)}; "
            f"late by itself p99 {self.honest['lag_ms'].get('p99', 0):.0f} ms; {self.honest['sent']} sent, "
            f"{self.honest['missing']} missing; honest: {counts or 'nothing'}; attacker: {self.tried} tried, "
            f"{sum(one['closed'] for one in self.attackers)} closed, {answers or 'no answer'}; "
            f"server: {use.rss_before >> 20}/{use.rss_peak >> 20}/{use.rss_after >> 20} MiB before/most/after, "
            f"{use.files_before}/{use.files_peak}/{use.files_after} files, {use.cpu_seconds:.1f} s CPU in {use.seconds:.1f} s")


class Poverty:
    """What a server may lack: descriptors, room on its disk, somebody who reads its log. Chosen before it starts."""

    def __init__(self, files: int | None = None, disk_kibibytes: int | None = None, log: str | None = None):
        self.files, self.disk_kibibytes, self.log = files, disk_kibibytes, log
        self._reader = -1

    def __call__(self, site: Site):
        """Takes it away from a site that has not been started."""
        self.site = site
        self.disk = None
        if self.disk_kibibytes:
            self.disk = Disk(site)
            self.disk.shrink(self.disk_kibibytes)
        into = ""
        match self.log:
            case "full": into = " 2> /dev/full > /dev/full"
            case "unread":
                pipe = site.folder / "log.pipe"
                os.mkfifo(pipe)
                self._reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
                # As small as a pipe can be: it is full after some lines.
                fcntl.fcntl(self._reader, fcntl.F_SETPIPE_SZ, 4_096)
                into = f" 2> {pipe} > {pipe}"
        limit = f"ulimit -n {self.files} && " if self.files else ""
        site.wrapper = ["sh", "-c", f'{limit}exec "$@"{into}', "sh", *site.wrapper]

    def leave(self, count: int):
        """From now on the disk has room for so many bytes more."""
        database = self.site.database
        used = sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*"))
        self.disk.shrink((used + count) >> 10)

    def stop_reading(self):
        """From now on whoever writes to the log gets an error and a signal."""
        if self._reader >= 0:
            os.close(self._reader)
            self._reader = -1


class Ground:
    """A site with honest phones that write to each other all the while."""

    def __init__(self, make_site, settings: dict | None = None, poverty: Poverty | None = None, phones: int = PHONES):
        merged = {group: {**SETTINGS.get(group, {}), **(settings or {}).get(group, {})}
                  for group in {*SETTINGS, *(settings or {})}}
        self.site: Site = make_site(with_apns=True, settings=merged)
        self.poverty = poverty
        if poverty:
            poverty(self.site)
        self.talkers: list[Talker] = []
        try:
            self._start(phones)
        except BaseException:
            self.stop()
            raise

    def _start(self, phones: int):
        self.site.start()
        self.names = [f"h{number}" for number in range(phones)]
        self.groups = {f"g{number}": self.names[number * 20 : number * 20 + 20] for number in range(min(GROUPS, phones // 20))}
        self.room = "lobby"
        self.hearers = self.names[:: phones // min(HEARERS, phones)]
        self._prepare()
        self.honest = self._talker("honest.py")
        self.honest.say(json.dumps({
            "gateway_port": self.site.gateway_port, "courier_port": self.site.courier_port, "topic": TOPIC, "rate": RATE,
            "phones": {name: self.token(name, 86_400) for name in self.names}, "groups": self.groups, "room": self.room,
            "hearers": self.hearers, "frozen": {f"f{number}": self.token(f"f{number}", 86_400) for number in range(FROZEN)},
        }))
        assert json.loads(self.honest.hear(120))["ready"]
        self.baseline: dict = {}
        # Whether the last attack left it as it was.
        self.was_held = False

    def _talker(self, *arguments: str) -> Talker:
        self.talkers.append(Talker([sys.executable, str(HERE / arguments[0]), *arguments[1:]], self.site.folder / "talkers.log"))
        return self.talkers[-1]

    def token(self, name: str, seconds: int = 3_600) -> str:
        return user_token(self.site.secret, self.site.app, name, seconds)

    def call(self, method: str, path: str, body: dict | None = None):
        """One call of the app's backend."""
        return self.site.call(method, f"/v1/apps/{self.site.app}/{path}", body)

    def status(self, method: str, path: str, body: dict | None = None, key: str | None = None) -> int:
        """The status of a call of the app's backend."""
        try:
            self.site.call(method, f"/v1/apps/{self.site.app}/{path}", body, key=key)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def say(self, sender: str, target: str, text: str, kind: str = "PR") -> str:
        return self.call("POST", "messages", {
            "sender": sender, "client_message_id": uuid.uuid4().hex, "conversation": {"type": kind, "target": target},
            "content": json.dumps({"content": text})})["message_id"]

    def _prepare(self):
        for group, members in self.groups.items():
            self.call("PUT", f"conversations/GRP/{group}", {"name": group, "members": members})
        self.call("PUT", f"conversations/CHRM/{self.room}", {"name": self.room, "members": self.hearers})

    # MARK: windows

    def window(self, seconds: float, wait: float = 10) -> dict:
        """So many seconds of honest people alone; their figures."""
        self._begin()
        time.sleep(seconds)
        return self._end(wait)

    def _begin(self):
        self.honest.say("begin")
        self.honest.hear(20)

    def _end(self, wait: float) -> dict:
        self.honest.say(f"end {wait}")
        return json.loads(self.honest.hear(wait + 60))

    def quiet(self) -> dict:
        """Figures without an attack, which have to hold the bounds, too: else the machine is too slow to say anything."""
        if not self.baseline:
            time.sleep(1)
            self.baseline = self.window(BASELINE_SECONDS)
            slow = {kind: p99 for kind, p99, _ in too_slow(self.baseline)}
            if slow or self.baseline["missing"]:
                figures, self.baseline = self.baseline, {}
                raise AssertionError(
                    f"inconclusive: this machine is too slow without any attack: p99 in ms {slow}, {figures['missing']} missing; "
                    f"{figures['lag_ms']} late by itself")
        return self.baseline

    def attack(
        self, name: str, *kinds: str, seconds: float = ATTACK_SECONDS, first=None, during=None, last=None, wait: float = 10,
        token_seconds: int = 3_600, **more
    ) -> Seen:
        """Attacks of these kinds at once, each a process.

        `first` is called when all are prepared and before they begin, `during` in the middle, `last` when they have ended.
        """
        baseline = self.quiet()
        attackers = [self._talker("attacks.py", kind) for kind in kinds]
        for attacker in attackers:
            attacker.say(json.dumps({
                "gateway_port": self.site.gateway_port, "api_port": self.site.api_port, "topic": TOPIC,
                "phone_api_port": getattr(self.site, "phone_port", self.site.api_port), "room": self.room,
                "victim": self.names[0], "seconds": seconds, "mallory": mallory(name),
                "tokens": {
                    "mallory": self.token(mallory(name), token_seconds), "accomplice": self.token(accomplice(name))},
                **more}))
        for attacker in attackers:
            assert attacker.hear(60) == "ready"
        if first:
            first()
        watch = Watch(self.site.server.child_pid)
        self._begin()
        for attacker in attackers:
            attacker.say("go")
        if during or not kinds:
            time.sleep(seconds / 2)
        if during:
            during()
        results = [json.loads(attacker.hear(seconds + 60)) for attacker in attackers]
        if last:
            last()
        honest = self._end(wait)
        use = watch.stop()
        for attacker in attackers:
            attacker.stop()
            self.talkers.remove(attacker)
        seen = Seen(self, name, honest, baseline, use, results)
        print(seen.line(), flush=True)
        return seen

    def finish(self) -> list[str]:
        """Everybody falls silent; what is lost, doubled or out of order by then is a fault."""
        self.honest.say("finish 30")
        found = json.loads(self.honest.hear(60))
        faults = [*found["wrong"][:5], *(f"lost: {one}" for one in found["lost"][:5])]
        faults += [f"never answered: {one}" for one in found["unanswered"][:5]]
        if len(found["lost"]) > 5:
            faults.append(f"{len(found['lost'])} lost in all")
        bugs = self.metric("tidings_bugs")
        if bugs:
            faults.append(f"the server found {bugs} bugs in itself")
        print(f"abuse end: {found['sent']} messages, {found['arrivals']} arrivals, {len(found['lost'])} lost, "
              f"{len(found['wrong'])} doubled or out of order", flush=True)
        return faults

    def metric(self, name: str) -> float:
        """The sum of a metric's series; 0 for one that was never counted."""
        with urllib.request.urlopen(f"{self.site.api}/metrics", timeout=20) as answer:
            text = answer.read().decode()
        return sum(
            float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(rf"{name}(_total)?[ {{]", line))

    def read(self, name: str) -> int:
        """How many messages a new device of a person finds in their log."""
        async def find() -> int:
            client = Client(self.site.gateway, self.token(name))
            async with asyncio.timeout(20):
                await client.connect()
                await client.ping()
            await client.close()
            return len(client.messages)

        return asyncio.run(find())

    def look(self) -> dict[str, float]:
        """How long it takes, in seconds, until a new phone is let in and until /healthz answers; 20 at most."""
        found = {}
        for name, ask in [("connect", self._connect), ("healthz", self._ask_health)]:
            start = time.monotonic()
            while time.monotonic() < start + 20:
                with contextlib.suppress(OSError, AssertionError):
                    ask(start + 20 - time.monotonic())
                    break
                time.sleep(0.05)
            found[name] = time.monotonic() - start
        return found

    def _connect(self, seconds: float):
        with socket.create_connection(
            ("127.0.0.1", self.site.gateway_port), timeout=max(0.1, seconds), source_address=("127.2.0.1", 0)
        ) as peer:
            peer.sendall(HANDSHAKE)
            assert peer.recv(4_096).startswith(b"HTTP/1.1 101")

    def _ask_health(self, seconds: float):
        with urllib.request.urlopen(f"{self.site.api}/healthz", timeout=max(0.1, seconds)) as answer:
            assert answer.status == 200

    def stop(self):
        for talker in self.talkers:
            talker.stop()
        if self.poverty:
            self.poverty.stop_reading()
        self.site.stop()
