import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

// The final probe: when all has healed and every phone has been away for minutes, the app's backend writes to everybody who may be notified.
// Each phone must ring once, by a push, and show the right number. Every second call is recalled at once.
extension World {
    /// Nobody has blocked or silenced them.
    static let caller = UserID("final-probe")
    /// The conversation as the person who is called sees it.
    static let callConversation = ConversationID(type: .direct, target: World.caller.rawValue)

    mutating func beginFinalProbe() {
        self.emit(.measured(self.memoryLoad(isQuiet: true)))
        let conversation = Self.callConversation
        for person in self.people + self.anonymousPeople {
            let key = UserKey(app: Self.app, user: person)
            guard case .user(let record)? = try? self.store.apply(.loadUser(key), epoch: self.epoch),
                record.settings.mayRing(in: conversation, for: person, wall: self.now.wall)
            else { continue }
            self.appendTrace("the final probe of \(person)")
            self.emit(.reached(.finalProbes))
            self.call(person, as: Self.call(of: person))
        }
    }

    mutating func call(_ person: UserID, as name: ClientMessageID) {
        let conversation = ConversationID(type: .direct, target: person.rawValue)
        self.callAPI(
            .send(
                UserKey(app: Self.app, user: Self.caller),
                Self.draft(name.rawValue, to: conversation, saying: "Are you there?")))
    }

    /// Every second call is recalled, while its pushes are on their way or have just come.
    mutating func recallCall(_ accepted: ServerFrame.SendAccepted) {
        if (self.people + self.anonymousPeople).contains(where: { accepted.clientMessageID == Self.secondCall(of: $0) })
        {
            self.callsToStay.insert(accepted.messageID)
        }
        let everybody = self.people + self.anonymousPeople
        let called = everybody.firstIndex { accepted.clientMessageID == Self.call(of: $0) }
        guard let called else { return }
        guard called % 2 == 1 else {
            self.callsToStay.insert(accepted.messageID)
            return
        }
        self.lastAPIRequest += 1
        let person = everybody[called]
        self.appendTrace("the call of \(person) is to be recalled")
        // A draw of its own: which draw is under way when the answer comes depends on what the run leaves out.
        var chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: 1 + called)
        var wait = chance.number(0...1_500)
        // Half of them just as APNs accepts their push, or later if it accepts none.
        if chance.chance(perMille: 500) {
            self.callsToRecall.insert(accepted.messageID)
            wait += 10_000
        }
        self.plan(
            .apiRequest(
                APIRequestID(self.lastAPIRequest), .request(Self.app, actor: nil, .recall(accepted.messageID))),
            after: wait)
    }

    /// The server is about to be told that APNs has accepted a push: the message it was for may be recalled just before.
    mutating func maybeRecallCall(pushedBy push: PushID) {
        guard let message = self.pushedCalls.removeValue(forKey: push), self.callsToRecall.remove(message) != nil else {
            return
        }
        self.emit(.reached(.recalledAtAnswer))
        self.callAPI(.request(Self.app, actor: nil, .recall(message)))
    }

    private static func call(of person: UserID) -> ClientMessageID { ClientMessageID("probe-\(person)") }
    static func secondCall(of person: UserID) -> ClientMessageID { ClientMessageID("probe-again-\(person)") }

    var finalProbePhones: [FinalProbePhone] {
        self.phones.map { phone in
            let settings = phone.core.notificationSettings(of: Self.bundle)
            return FinalProbePhone(
                key: phone.key,
                // A process that was not given its token asks again when it comes in the foreground (S2.8). Until then a token that Apple
                // has refused stays set aside (design.md P8).
                mayRing: phone.isSignedIn && phone.registration != nil
                    && !phone.processes.values.contains { $0.kit.needsToken }
                    && settings?.authorizationStatus == .authorized,
                mayBeWoken: phone.mayBeWoken,
                mayBeTold: phone.core.isUnlockedOnce && !phone.core.isInLowPowerMode && settings?.alert == true,
                icon: phone.core.screen.badge(of: Self.bundle),
                shown: phone.core.screen.list.map(\.notification.request).map {
                    .init(identifier: $0.identifier, text: $0.content.body)
                })
        }
    }
}

extension AllSettings {
    fileprivate func mayRing(in conversation: ConversationID, for user: UserID, wall: Int64) -> Bool {
        self.person.level(of: conversation, self.conversations[conversation], wall: wall).allows(.none, of: user)
            && !self.isQuiet(at: wall)
    }
}
