// What a person has silenced, by a level or quiet hours, does not ring. A push is checked when the server hands it
// over, against the settings its core knows then; a local notification when the client's gate lets it pass, against
// the settings of the phone's log up to the message and what was set on the phone since.
import ClientCore
import OrderedCollections
import TidingsModel

struct LevelChecker: Checker {
    static let kinds = FactKinds(.pushed, .passedGate, .toldMissed)

    /// A phone has the server's clock from its welcome, which takes as long as a frame may take.
    private static let clockTolerance: Int64 = 20_000

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .pushed(let request, let key):
            guard let info = request.alert, let accepted = state.committed.messages[info.message] else { return }
            let user = key.user.user
            let settings = state.known.settings(of: user)
            if !settings.allows(accepted.message, for: user, wall: state.now.wall) {
                findings.add("level", "a push of \(info.message) went to \(key), who has silenced it")
            }
            if settings.isQuiet(at: state.now.wall) {
                findings.add("quiet hours", "a push of \(info.message) went to \(key) in quiet hours")
            }
        case .passedGate(let id, let key, let disk):
            guard let accepted = state.committed.messages[id], let item = disk.store.rows.messages[id] else { return }
            let user = key.user.user
            let isSilenced = [disk.preferences(upTo: item.position), disk.store.preferences()].allSatisfy {
                preferences in
                !state.walls.contains { preferences.current.allows(accepted.message, for: user, wall: $0) }
            }
            let isQuiet = [disk.preferences(upTo: item.position), disk.store.preferences()].allSatisfy { preferences in
                state.walls.allSatisfy {
                    preferences.current.isQuiet(at: $0) && preferences.current.isQuiet(at: $0 - Self.clockTolerance)
                }
            }
            if isQuiet { findings.add("quiet hours", "\(key) is about to show \(id) in quiet hours") }
            if isSilenced { findings.add("level", "\(key) is about to show \(id), which is silenced there") }
        case .toldMissed(let answer, let key):
            let settings = state.known.settings(of: key.user.user)
            let isQuiet = settings.isQuiet(at: state.now.wall)
            for entry in answer["entries"]?.arrayValue ?? [] where entry["rings"]?.boolValue == true {
                guard let id = entry["message_id"]?.stringValue.flatMap({ MessageID($0) }),
                    let accepted = state.committed.messages[id]
                else { continue }
                if isQuiet || !settings.allows(accepted.message, for: key.user.user, wall: state.now.wall) {
                    findings.add("level", "the extension of \(key) is told to show \(id), which is silenced")
                }
            }
        default: break  // tidy: the other facts are other promises'
        }
    }
}

extension AllSettings {
    func isQuiet(at wall: Int64) -> Bool { self.person.quietHours?.end(at: wall, in: World.zone) != nil }

    func allows(_ message: Message, for user: UserID, wall: Int64) -> Bool {
        let conversation = message.conversation(seenBy: user)
        return self.person.level(of: conversation, self.conversations[conversation], wall: wall)
            .allows(message.mentions, of: user)
    }
}
