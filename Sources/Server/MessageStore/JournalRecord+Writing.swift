import StoreModel
import TidingsModel

extension ByteWriter {
    // tidy: long because it is one case per kind.
    mutating func body(of record: JournalRecord) {
        switch record {
        case .accept(let message, let senderDevice, let version):
            self.message(message)
            self.text(senderDevice?.rawValue)
            self.number(version)
            if message.isAddressed { self.addressees(of: message) }
        case .putConversation(let record, let version): self.putConversation(record, version: version)
        case .change(let app, let change):
            self.text(app.rawValue)
            self.change(change)
        case .recall(let app, let recall, let accepted):
            self.text(app.rawValue)
            self.recall(recall)
            self.number(accepted)
        case .edit(let app, let edit, let accepted):
            self.text(app.rawValue)
            self.edit(edit)
            self.number(accepted)
        case .delete(let key, let deletion, let positions, let at):
            self.userKey(key)
            self.conversation(deletion.conversation)
            self.list(Array(zip(deletion.messages, positions))) { writer, item in
                writer.fixed(item.0.rawValue)
                writer.number(item.1)
            }
            self.signed(at)
        case .conversationSettings(let key, let conversation, let settings, let at):
            self.userKey(key)
            self.conversation(conversation)
            self.settings(settings)
            self.signed(at)
        case .personSettings(let key, let settings, let at):
            self.userKey(key)
            self.settings(settings)
            self.signed(at)
        case .blocked(let key, let user, let isBlocked, let at):
            self.userKey(key)
            self.text(user.rawValue)
            self.byte(isBlocked ? 1 : 0)
            self.signed(at)
        case .custom(let operation): self.custom(operation)
        case .signIn(let device): self.device(device)
        case .signOut(let key): self.deviceKey(key)
        case .setPushState(let key, let state):
            self.deviceKey(key)
            self.pushState(state)
        case .advance(let key, let settled, let decided):
            self.deviceKey(key)
            self.number(settled)
            self.number(decided)
        case .markRead(let key, let conversation, let upTo, let at):
            self.userKey(key)
            self.conversation(conversation)
            self.number(upTo)
            self.signed(at)
        case .keepLeg(let open): self.openLeg(open)
        case .endLeg(let ended):
            self.leg(ended.leg)
            self.legEnd(ended.end)
            self.signed(ended.at)
        case .receipt(let leg, let receipt, let at):
            self.leg(leg)
            self.text(receipt.rawValue)
            self.signed(at)
        case .lost: break
        case .objectNames(let app, let names):
            self.text(app.rawValue)
            self.list(names) { $0.text($1.rawValue) }
        case .userAccount(let key, let account):
            self.userKey(key)
            self.byte(account.isBanned ? 1 : 0)
            self.signed(account.tokensNotBefore)
        case .account(let app, let account, let isDeclared):
            self.text(app.rawValue)
            self.conversation(account)
            self.byte(isDeclared ? 1 : 0)
        }
    }

    private mutating func message(_ message: Message) {
        self.fixed(message.id.rawValue)
        self.text(message.app.rawValue)
        self.text(message.sender.rawValue)
        self.conversation(message.conversation)
        self.text(message.clientMessageID.rawValue)
        self.text(message.objectName.rawValue)
        self.text(message.content)
        self.byte(message.flags.rawValue)
        self.text(message.pushText)
        self.signed(message.sentAt)
    }

    mutating func conversation(_ conversation: ConversationID) {
        self.text(conversation.type.rawValue)
        self.text(conversation.target)
    }

    mutating func userKey(_ key: UserKey) {
        self.text(key.app.rawValue)
        self.text(key.user.rawValue)
    }

    private mutating func deviceKey(_ key: DeviceKey) {
        self.userKey(key.user)
        self.text(key.device.rawValue)
    }

    private mutating func leg(_ leg: LegID) {
        self.fixed(leg.message.rawValue)
        self.userKey(leg.user)
        self.text(leg.device?.rawValue)
    }

    private mutating func device(_ device: DeviceRecord) {
        self.deviceKey(device.key)
        self.text(device.platform)
        self.pushState(device.push)
        self.number(device.settled)
        self.number(device.decided)
        self.number(device.since)
        self.signed(device.signedInAt)
        self.byte(device.isSignedOut ? 1 : 0)
    }

    private mutating func pushState(_ state: PushState) {
        switch state {
        case .none: self.byte(0)
        case .registered(let registration, let at, let wasAccepted):
            self.byte(wasAccepted ? 4 : 1)
            self.registration(registration)
            self.signed(at)
        case .quarantined(let registration, let at, let reason):
            self.byte(2)
            self.registration(registration)
            self.signed(at)
            self.text(reason)
        case .dead(let timestamp):
            self.byte(3)
            self.signed(timestamp)
        }
    }

    private mutating func registration(_ registration: PushRegistration) {
        self.text(registration.token.rawValue)
        self.text(registration.environment.rawValue)
        self.text(registration.topic)
    }

    private mutating func openLeg(_ open: OpenLeg) {
        self.leg(open.leg)
        self.number(open.position)
        self.text(open.wait.rawValue)
        self.text(open.apnsID)
        self.signed(Int64(open.attempts))
        self.byte(open.notBefore == nil ? 0 : 1)
        if let notBefore = open.notBefore { self.signed(notBefore) }
    }

    private mutating func legEnd(_ end: LegEnd) {
        switch end {
        case .ownDevice: self.byte(1)
        case .noDevice: self.byte(2)
        case .signedOut: self.byte(3)
        case .notNotifiable: self.byte(4)
        case .settled(let disposition):
            self.byte(5)
            self.disposition(disposition)
        case .readElsewhere: self.byte(6)
        case .recalled: self.byte(7)
        case .expired: self.byte(8)
        case .muted: self.byte(9)
        case .noToken: self.byte(10)
        case .accepted(let apnsID):
            self.byte(12)
            self.text(apnsID)
        case .tokenDead(let timestamp):
            self.byte(13)
            self.signed(timestamp)
        case .rejected(let reason):
            self.byte(14)
            self.text(reason)
        case .quietHours: self.byte(15)
        case .disabled: self.byte(16)
        // 11 is the form without a reason, which journals of before have.
        case .tokenQuarantined(reason: "", status: 0): self.byte(11)
        case .tokenQuarantined(let reason, let status):
            self.byte(17)
            self.text(reason)
            self.signed(Int64(status))
        }
    }

    private mutating func disposition(_ disposition: Disposition) {
        switch disposition {
        case .shown: self.byte(1)
        case .appHandled: self.byte(2)
        case .leftToApp: self.byte(3)
        case .suppressed(let reason):
            self.byte(4)
            self.text(reason.rawValue)
        }
    }
}
