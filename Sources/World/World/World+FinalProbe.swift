import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

// The final probe: when all has healed and every phone has been away for minutes, the app's backend writes to everybody who may be rung
// for. Whatever broke before, each phone must ring once, by a push, and show the right number. Every second call is recalled at once.
extension World {
    /// Who writes; nobody has blocked or silenced them.
    static let caller = UserID("final-probe")

    mutating func callTheRoll() {
        self.see(.measured(self.load(isQuiet: true)))
        for person in self.people {
            let conversation = ConversationID(type: .direct, target: Self.caller.rawValue)
            guard let record = self.record(of: person),
                record.settings.mayRing(in: conversation, for: person, wall: self.now.wall)
            else { continue }
            self.note("the roll is called for \(person)")
            self.see(.reached(.finalProbes))
            self.call(
                .send(
                    UserKey(app: Self.app, user: Self.caller),
                    MessageDraft(
                        clientMessageID: Self.call(of: person),
                        conversation: ConversationID(type: .direct, target: person.rawValue), objectName: .text,
                        content: JSONValue.members([("content", .string("Are you there?"))]).text)))
        }
    }

    /// Recalls every second call, while its pushes are on their way or have just come.
    mutating func recallCall(_ accepted: ServerFrame.SendAccepted) {
        let called = self.people.firstIndex { accepted.clientMessageID == Self.call(of: $0) }
        guard let called, called % 2 == 1 else { return }
        self.lastAPIRequest += 1
        let person = self.people[called]
        self.note("the call of \(person) is to be recalled")
        // A stream of its own: in whose turn the answer comes hangs on what the run leaves out.
        var chance = SplitMix64(seed: self.options.seed, party: .setup, turn: 1 + called)
        let wait = chance.number(0...1_500)
        self.plan(
            .apiRequest(
                APIRequestID(self.lastAPIRequest), .request(Self.app, actor: nil, .recall(accepted.messageID))),
            after: wait)
    }

    private static func call(of person: UserID) -> ClientMessageID { ClientMessageID("roll-\(person)") }

    mutating func endFinalProbe() {
        let phones = self.phones.map { phone in
            let settings = phone.core.notificationSettings(of: Self.bundle)
            return FinalProbePhone(
                key: phone.key,
                // A process that was not given its token asks again when it comes in the foreground (S2.8). Until then a token that Apple
                // has refused stays set aside (DESIGN P8).
                mayRing: phone.isSignedIn && phone.registration != nil
                    && !phone.processes.values.contains { $0.kit.needsToken }
                    && settings?.authorizationStatus == .authorized,
                icon: phone.core.screen.badge(of: Self.bundle),
                shown: phone.core.screen.list.map(\.notification.request).map {
                    .init(identifier: $0.identifier, text: $0.content.body)
                })
        }
        self.see(.finalProbeEnded(phones))
    }

    private mutating func record(of person: UserID) -> UserRecord? {
        let key = UserKey(app: Self.app, user: person)
        guard case .user(let record)? = try? self.store.apply(.loadUser(key), epoch: self.epoch) else { return nil }
        return record
    }
}

extension AllSettings {
    /// Whether a message that mentions nobody may ring now.
    fileprivate func mayRing(in conversation: ConversationID, for user: UserID, wall: Int64) -> Bool {
        self.person.level(of: conversation, self.conversations[conversation], wall: wall).allows(.none, of: user)
            && !self.isQuiet(at: wall)
    }
}
