// Hostile clients harm nobody: no message of others is refused because of them, what they make up is bounded, and they
// change and learn nothing of others.
import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

enum HostileFact {
    case refused(ServerFrame.Problem.Code)
    case granted(ClientRequest)
    case toldEntry(LogEntry)
    case relayed(to: SessionID)
}

struct AbuseChecker: Checker {
    static let kinds = FactKinds(
        .serverStarted, .hostile, .refused, .pushed, .accept, .recall, .edit, .delete, .change, .signIn, .setPushState)

    /// Messages of one of them in a minute of one life of the server: what `World.hostileLimits` lets through.
    static let messagesPerMinute = 80 + 2 * 60
    /// The typing signals that one connection gets of theirs in a second: for each session one that types, and one that stops; twice, for a
    /// second may begin anywhere.
    static let typingPerSecond = 4 * World.hostileSessionsMax
    /// Pushes to a token that APNs has never accepted, in a minute of one life of the server and for each
    /// registration: the first, one as soon as others' pushes are accepted, and three before that, with pauses that
    /// double from five seconds.
    static let pushesPerRegistration = 5
    static let devices = ServerSettings().devicesMax

    private struct Counter {
        var since: Int64 = .min / 2
        var count = 0

        mutating func add(at now: Int64, within milliseconds: Int64 = 60_000) -> Int {
            if now >= self.since + milliseconds { (self.since, self.count) = (now, 0) }
            self.count += 1
            return self.count
        }
    }

    private var messages: OrderedDictionary<UserID, Counter> = [:]
    private var typing: OrderedDictionary<SessionID, Counter> = [:]
    /// Devices that each person had before the first of them signed in, in this life of the server.
    private var devices: OrderedDictionary<UserKey, Int> = [:]
    /// Pushes to made-up tokens since they were registered.
    private var pushes: OrderedDictionary<PushToken, Counter> = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .serverStarted:
            self.messages = [:]
            self.devices = [:]
            for token in self.pushes.keys { self.pushes[token] = Counter() }
        case .hostile(let told): self.checkTold(told, state, into: &findings)
        case .refused(let draft, let problem, let key):
            if problem.code == .rateLimited {
                findings.add(
                    "abuse", "\(draft.clientMessageID) of \(key), who wrote like a person, was refused: \(problem)")
            }
        case .pushed(let request, let key):
            guard World.isHostile(key.user.user),
                let count = self.pushes[request.token]?.add(at: state.now.monotonic)
            else { return }
            if count > Self.pushesPerRegistration {
                findings.add(
                    "abuse", "\(request.token), which was made up, got \(count) pushes after one registration")
            }
        case .committed(let command, let result): self.checkCommand(command, result, state, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func checkTold(_ told: HostileFact, _ state: CheckerState, into findings: inout Findings) {
        switch told {
        case .refused: findings.reach(.hostileRefusals)
        case .granted(let request): findings.add("abuse", "a client that is no member was granted \(request)")
        case .toldEntry(let entry):
            guard case .message(let message) = entry.body, state.known.recalled[message.id] != nil else { return }
            findings.add("abuse", "a client that syncs was told what \(message.id) said, which was recalled before")
        case .relayed(let session):
            let count = self.typing[session, default: Counter()].add(at: state.now.monotonic, within: 1_000)
            if count > Self.typingPerSecond {
                findings.add("abuse", "\(session) was told \(count) times in a second who types")
            }
        }
    }

    private mutating func checkCommand(
        _ command: StoreCommand, _ result: StoreResult, _ state: CheckerState, into findings: inout Findings
    ) {
        switch (command, result) {
        case (.accept(let message, _, _, _, _, _), .accepted): self.checkAccepted(message, state, into: &findings)
        case (.recall(let operation), .recalled(let recall, _, _, _)):
            self.checkAuthor(of: recall.message, operation.actor, "recalled", state, into: &findings)
        case (.edit(let operation), .noted(.edit(let edit)?, _)):
            self.checkAuthor(of: edit.message, operation.actor, "edited", state, into: &findings)
        case (.change(let operation), .changed(let changes, _)):
            if let actor = operation.actor, World.isHostile(actor), !changes.isEmpty {
                findings.add("abuse", "\(actor) changed \(operation.conversation), which is none of theirs")
            }
        case (.signIn(let key, _, _, _), .device):
            let count = state.committed.devices(of: key.user).count
            // Surplus devices are signed out with the next commands to the store; as many may be signing in by then. After a crash the
            // next server signs them out.
            let before = self.devices[key.user, default: count - 1]
            self.devices[key.user] = before
            if count > max(Self.devices, before) + Self.devices {
                findings.add("abuse", "\(key.user) is signed in on \(count) devices")
            }
        case (.setPushState(let key, .registered(let registration, _, _), about: nil), _):
            if World.isHostile(key.user.user) { self.pushes[registration.token] = Counter() }
        default: break  // tidy: the other commands are no abuse
        }
    }

    private mutating func checkAccepted(_ message: Message, _ state: CheckerState, into findings: inout Findings) {
        guard World.isHostile(message.sender) else { return }
        let count = self.messages[message.sender, default: Counter()].add(at: state.now.monotonic)
        if count > Self.messagesPerMinute {
            findings.add(
                "abuse", "\(message.sender) had more than \(Self.messagesPerMinute) messages accepted in a minute")
        }
        if message.conversation.type != .direct {
            findings.add("abuse", "\(message.sender) wrote to \(message.conversation), where they may not")
        }
    }

    private func checkAuthor(
        of message: MessageID, _ user: UserID?, _ what: String, _ state: CheckerState, into findings: inout Findings
    ) {
        guard let user, World.isHostile(user), let author = state.committed.messages[message]?.message.sender,
            author != user
        else { return }
        findings.add("abuse", "\(user) \(what) \(message), which is \(author)'s")
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for trace in ending.store.messages {
            for receipt in trace.receipts where receipt.leg.user.app == World.app {
                guard let accepted = state.committed.messages[receipt.leg.message],
                    accepted.position(of: receipt.leg.user.user) == nil
                else { continue }
                findings.add(
                    "abuse", "\(receipt.leg.user) has a receipt for \(receipt.leg.message), which they never got")
            }
        }
    }
}
