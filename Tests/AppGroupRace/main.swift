import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel

// One process of the race on ledger and badge in `TidingsAppGroupTests`:
//
//     AppGroupRace FOLDER ROLE ROUNDS RACERS
//
// ROLE `answers` or `recalls`: see `Recalls`. Otherwise ROLE is `extension`, or `app` followed by a number. For each of ROUNDS messages it claims the message, counts one on the
// badge, and marks shown what it was granted: half of them in the same step, half in a second one. Nobody runs ahead of the
// others by more messages than a ledger remembers: before each lap the badge must show that all RACERS have ended the last
// one. It fails if the badge stands still for 40 seconds. Prints the messages it rang for, one number a line.

/// What this process is.
func holder(_ role: String) -> Ledger.Holder? {
    if role == "extension" { return .pushExtension }
    guard role.hasPrefix("app") else { return nil }
    return UInt64(role.dropFirst(3)).map { .kit(process: $0) }
}

if CommandLine.arguments.count == 5, ["answers", "recalls"].contains(CommandLine.arguments[2]),
    let rounds = UInt64(CommandLine.arguments[3])
{
    let folder = URL(fileURLWithPath: CommandLine.arguments[1])
    let race = Recalls(group: try AppGroup(folder: folder, lockMilliseconds: 20_000), folder: folder)
    try CommandLine.arguments[2] == "answers" ? race.answer(rounds) : race.recall(rounds)
    exit(0)
}
guard CommandLine.arguments.count == 5, let holder = holder(CommandLine.arguments[2]),
    let rounds = UInt64(CommandLine.arguments[3]), let racers = UInt64(CommandLine.arguments[4])
else {
    FileHandle.standardError.write(Data("usage: AppGroupRace FOLDER extension|appN ROUNDS RACERS\n".utf8))
    exit(64)
}
let folder = URL(fileURLWithPath: CommandLine.arguments[1])
// Longer than the app's own: on a busy machine a process may lose the processor while it holds the lock.
let group = try AppGroup(folder: folder, lockMilliseconds: 20_000)

let lap = UInt64(Ledger.capacity / 2)

/// Ends the process where a count is lost: the badge stands still then, and nobody could go on.
func waitForBadge(_ number: UInt64) throws {
    let clock = ContinuousClock()
    var (last, changedAt) = (UInt64(0), clock.now)
    while true {
        let shown = try group.update { $0.badge.map { UInt64($0.shown) } ?? 0 }
        if shown >= number { return }
        if shown != last { (last, changedAt) = (shown, clock.now) }
        guard changedAt.duration(to: clock.now) < .seconds(40) else {
            FileHandle.standardError.write(
                Data("AppGroupRace: the badge stands at \(shown), \(number) is waited for\n".utf8))
            exit(1)
        }
        usleep(500)
    }
}

var rung = ""
for round in 1...rounds {
    if round % lap == 1 {
        // The badge is missing until the test fires the starting gun.
        try waitForBadge(racers * (round - 1) + 1)
    }
    let message = MessageID(rawValue: round)
    let verdict = try group.update { contents in
        let verdict = contents.ledger.claim(message, by: holder, wall: 0)
        if verdict == .granted, round % 2 == 0 { contents.ledger.markShown(message, by: holder, wall: 0) }
        contents.badge?.pushedByAnother(isRecall: false)
        return verdict
    }
    guard verdict == .granted else { continue }
    rung += "\(round)\n"
    if round % 2 == 1 { try group.update { $0.ledger.markShown(message, by: holder, wall: 0) } }
}
print(rung, terminator: "")
