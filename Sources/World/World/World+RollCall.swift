import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

// The roll call: when all has healed and every phone has been away for minutes, the app's backend writes to everybody who may be rung
// for. Whatever broke before, each phone must ring once, by a push, and show the right number.
extension World {
    /// Who writes; nobody has blocked or silenced them.
    static let caller = UserID("roll-call")

    mutating func callTheRoll() {
        self.see(.measured(self.load(isQuiet: true)))
        for person in self.people {
            let conversation = ConversationID(type: .direct, target: Self.caller.rawValue)
            guard let record = self.record(of: person),
                record.settings.mayRing(in: conversation, for: person, wall: self.now.wall)
            else { continue }
            self.note("the roll is called for \(person)")
            self.see(.reached(.rollCalls))
            self.call(
                .send(
                    UserKey(app: Self.app, user: Self.caller),
                    MessageDraft(
                        clientMessageID: ClientMessageID("roll-\(person)"),
                        conversation: ConversationID(type: .direct, target: person.rawValue), objectName: .text,
                        content: JSONValue.members([("content", .string("Are you there?"))]).text)))
        }
    }

    mutating func endRollCall() {
        self.see(
            .rollCallEnded(
                self.phones.map { phone in
                    let settings = phone.core.notificationSettings(of: Self.bundle)
                    return RollCallPhone(
                        key: phone.key,
                        // A process that was not given its token asks again when it comes in front (S2.8). Until then a token
                        // that Apple has refused stays set aside (DESIGN P8).
                        mayRing: phone.isSignedIn && phone.registration != nil
                            && !phone.processes.values.contains { $0.asksForTokenInFront }
                            && settings?.authorizationStatus == .authorized,
                        icon: phone.core.screen.badge(of: Self.bundle))
                }))
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
