// What hostile clients do stays with them: nobody's message is refused for it, what they make up is bounded, and of others they change
// and learn nothing.
import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

/// What a hostile client was told.
enum HostileFact {
    /// Something it asked was refused.
    case refused(ServerFrame.Problem.Code)
    /// An entry of its log, in a page.
    case toldEntry(LogEntry)
    /// It shows another person that it types.
    case relayed(to: SessionID)
}

/// Watches what the store takes from hostile clients, what is pushed to them, and what honest ones are refused.
struct AbuseChecker: Checker {
    static let kinds = FactKinds(
        .serverStarted, .hostile, .refused, .pushed, .accept, .recall, .edit, .delete, .change, .signIn, .setPushState)

    /// Messages of one of them in a minute of one life of the server: what `World.hostileLimits` lets through.
    static let messagesPerMinute = 80 + 2 * 60
    /// What one person is shown of their typing in a minute: one a second, and its end.
    static let typingPerMinute = 2 * 60 + 2
    /// Pushes to a token that APNs has never accepted, for each time it is registered: what is on its way before the first refusal.
    static let pushesPerRegistration = 1
    /// Devices of one person.
    static let devices = ServerSettings().devicesMax

    /// How often something has happened within a minute.
    private struct Counter {
        var since: Int64 = .min / 2
        var count = 0

        mutating func add(at now: Int64) -> Int {
            if now >= self.since + 60_000 { (self.since, self.count) = (now, 0) }
            self.count += 1
            return self.count
        }
    }

    private var messages: OrderedDictionary<UserID, Counter> = [:]
    private var typing: OrderedDictionary<SessionID, Counter> = [:]
    /// Pushes to tokens that were made up, since they were registered.
    private var pushes: OrderedDictionary<PushToken, Int> = [:]

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        switch fact {
        case .serverStarted: self.messages = [:]
        case .hostile(let told): self.see(told, scene, into: &findings)
        case .refused(let draft, let problem, let key):
            if problem.code == .rateLimited {
                findings.add(
                    "abuse", "\(draft.clientMessageID) of \(key), who wrote like a person, was refused: \(problem)")
            }
        case .pushed(let request, let key):
            guard World.isHostile(key.user.user), let count = self.pushes[request.token] else { return }
            self.pushes[request.token] = count + 1
            if count + 1 > Self.pushesPerRegistration {
                findings.add(
                    "abuse", "\(request.token), which was made up, got \(count + 1) pushes after one registration")
            }
        case .committed(let command, let result): self.see(command, result, scene, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func see(_ told: HostileFact, _ scene: Scene, into findings: inout Findings) {
        switch told {
        case .refused: findings.reach(.hostileRefusals)
        case .toldEntry(let entry):
            guard case .message(let message) = entry.body, scene.known.recalled[message.id] != nil else { return }
            findings.add("abuse", "a client that syncs was told what \(message.id) said, which was recalled before")
        case .relayed(let session):
            if self.typing[session, default: Counter()].add(at: scene.now.monotonic) > Self.typingPerMinute {
                findings.add(
                    "abuse", "\(session) was told more than \(Self.typingPerMinute) times in a minute who types")
            }
        }
    }

    private mutating func see(
        _ command: StoreCommand, _ result: StoreResult, _ scene: Scene, into findings: inout Findings
    ) {
        switch (command, result) {
        case (.accept(let message, _), .accepted): self.accept(message, scene, into: &findings)
        case (.recall(let operation), .recalled(let recall, _, _, _)):
            self.checkAuthor(of: recall.message, operation.actor, "recalled", scene, into: &findings)
        case (.edit(let operation), .noted(.edit(let edit)?, _)):
            self.checkAuthor(of: edit.message, operation.actor, "edited", scene, into: &findings)
        case (.change(let operation), .changed(_?, _)):
            if let actor = operation.actor, World.isHostile(actor), operation.conversation.type == .group {
                findings.add("abuse", "\(actor) changed \(operation.conversation), which is none of theirs")
            }
        case (.signIn(let key, _, _, _), .device):
            let count = scene.committed.devices(of: key.user).count
            // The one too many is signed out with what is handed to the store next.
            if count > Self.devices + 1 { findings.add("abuse", "\(key.user) is signed in on \(count) devices") }
        case (.setPushState(let key, .registered(let registration, _)), _):
            if World.isHostile(key.user.user) { self.pushes[registration.token] = 0 }
        default: break  // tidy: the other commands are no abuse
        }
    }

    private mutating func accept(_ message: Message, _ scene: Scene, into findings: inout Findings) {
        guard World.isHostile(message.sender) else { return }
        let count = self.messages[message.sender, default: Counter()].add(at: scene.now.monotonic)
        if count > Self.messagesPerMinute {
            findings.add(
                "abuse", "\(message.sender) had more than \(Self.messagesPerMinute) messages accepted in a minute")
        }
        switch message.conversation.type {
        case .direct, .discussion: break
        case .group, .chatRoom, .customerService, .system, .appPublicService, .publicService, .pushService:
            findings.add("abuse", "\(message.sender) wrote to \(message.conversation), where they may not")
        }
    }

    private func checkAuthor(
        of message: MessageID, _ actor: UserID?, _ what: String, _ scene: Scene, into findings: inout Findings
    ) {
        guard let actor, World.isHostile(actor), let author = scene.committed.messages[message]?.message.sender,
            author != actor
        else { return }
        findings.add("abuse", "\(actor) \(what) \(message), which is \(author)'s")
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        for trace in ending.store.messages {
            for receipt in trace.receipts where receipt.leg.user.app == World.app {
                guard let accepted = scene.committed.messages[receipt.leg.message],
                    accepted.position(of: receipt.leg.user.user) == nil
                else { continue }
                findings.add(
                    "abuse", "\(receipt.leg.user) has a receipt for \(receipt.leg.message), which they never got")
            }
        }
    }
}
