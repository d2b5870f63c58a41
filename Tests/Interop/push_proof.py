"""What a push to many devices must come to: pure functions over what was sampled and counted, each of which names what is wrong."""

from __future__ import annotations

import dataclasses

MEGABYTE = 1_024 * 1_024
# What the server may use above what it uses idle.
GROWTH_MAX = 64 * MEGABYTE
# A run of which so little was seen says nothing.
SAMPLES_MIN = 5


@dataclasses.dataclass(frozen=True)
class Sample:
    """The server at one moment of a push."""

    seconds: float
    resident: int
    recipients: int


def memory_faults(idle: int, samples: list[Sample], peak: int) -> list[str]:
    """`peak` is what the system says of the most memory the server has had."""
    if len(samples) < SAMPLES_MIN:
        return [f"memory was seen {len(samples)} times, and {SAMPLES_MIN} are the least"]
    if idle <= 0:
        return ["the memory of the idle server was not seen"]
    most = max(peak, *(sample.resident for sample in samples))
    if most > idle + GROWTH_MAX:
        return [f"memory grew from {idle / MEGABYTE:.1f} MB to {most / MEGABYTE:.1f} MB"]
    return []


def progress_faults(samples: list[Sample], people: int) -> list[str]:
    """It is told in parts, never falls, and ends with everybody."""
    told = [sample.recipients for sample in samples]
    faults = [f"progress fell from {one} to {next} people" for one, next in zip(told, told[1:]) if next < one]
    if len({one for one in told if 0 < one < people}) < 3:
        faults.append("progress was not told in parts")
    if not told or told[-1] != people:
        faults.append(f"progress ended with {told[-1] if told else 'nothing'}, and there are {people} people")
    return faults


def statistics_faults(statistics: dict, devices: int, accepted: int | None = None) -> list[str]:
    """Every device has one end. - `accepted`: how many of them end so; without it all."""
    faults = []
    total = sum(statistics["ends"].values())
    if total != devices:
        faults.append(f"{total} legs have ended, and there are {devices} devices")
    wanted = devices if accepted is None else accepted
    if statistics["ends"].get("accepted", 0) != wanted or statistics["accepted"] != wanted:
        faults.append(f"{statistics['accepted']} are told as accepted ({statistics['ends']}), and {wanted} were")
    return faults


def once_faults(tally: dict, devices: int) -> list[str]:
    """Each device was pushed to once, under a name of its own: what the local APNs has counted."""
    wanted = {
        "pushes": devices, "devices": devices, "once": devices, "repeated": 0, "repeats": 0, "several": 0, "names": devices,
    }
    return [f"{name} is {tally[name]} instead of {count}" for name, count in wanted.items() if tally[name] != count]


def repeated_faults(tally: dict, devices: int, repeated: int) -> list[str]:
    """Each device was pushed to under one name of its own; what came more than once is among those that the statistics call repeated."""
    wanted = {"devices": devices, "names": devices, "several": 0, "pushes": devices + tally["repeats"]}
    faults = [f"{name} is {tally[name]} instead of {count}" for name, count in wanted.items() if tally[name] != count]
    if tally["repeats"] > repeated:
        faults.append(f"{tally['repeats']} pushes came again, and the statistics tell of {repeated}")
    return faults


def cancelled_faults(shown: dict, later: dict, tally: dict, after: dict, each: int) -> list[str]:
    """What was sent before the cancellation has ended, and nothing went since.

    `shown` and `later`: the push when all of its legs had ended, and some time after; `tally` and `after`: what APNs had counted then."""
    faults = []
    if shown["state"] != "cancelled":
        faults.append(f"its state is {shown['state']}")
    if later["progress"] != shown["progress"] or later["statistics"] != shown["statistics"]:
        faults.append(f"it went on: {shown['progress']}, then {later['progress']}")
    if after != tally:
        faults.append(f"APNs got more: {tally}, then {after}")
    devices = shown["progress"]["recipients"] * each
    if devices == 0:
        faults.append("nothing was sent before it was cancelled")
    return faults + statistics_faults(shown["statistics"], devices) + once_faults(tally, devices)


def halfway_faults(pushes: int, devices: int) -> list[str]:
    """Whether what was done half-way was done there."""
    return [] if 0 < pushes < devices else [f"{pushes} of {devices} pushes had gone: not half-way"]
