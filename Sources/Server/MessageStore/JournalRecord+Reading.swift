import StoreModel
import TidingsModel

extension ByteReader {
    /// One record, from its kind to its last byte.
    mutating func record() throws(StoredBytesFault) -> JournalRecord {
        let number = try self.byte()
        guard let kind = JournalRecord.Kind(rawValue: number) else { throw .unknownKind(number) }
        switch kind {
        case .accept, .acceptAddressed:
            var message = try self.message()
            let device = try self.optionalText().map { DeviceID($0) }
            let version = try self.number()
            if kind == .acceptAddressed { try self.addressees(of: &message) }
            return .accept(message, senderDevice: device, version: version)
        case .putConversation: return try self.putConversation(isRanked: false)
        case .putRankedConversation: return try self.putConversation(isRanked: true)
        case .change: return .change(AppID(try self.text()), try self.change())
        case .recall:
            return .recall(AppID(try self.text()), try self.recall(), accepted: try self.number())
        case .edit: return .edit(AppID(try self.text()), try self.edit(), accepted: try self.number())
        case .delete: return try self.delete()
        case .conversationSettings:
            return .conversationSettings(
                try self.userKey(), try self.conversation(), try self.conversationSettings(), at: try self.signed())
        case .personSettings:
            return .personSettings(try self.userKey(), try self.personSettings(), at: try self.signed())
        case .blocked:
            return .blocked(
                try self.userKey(), UserID(try self.text()), try self.byte() == 1, at: try self.signed())
        case .custom: return .custom(try self.custom())
        case .expiringCustom:
            let expiresAt = try self.signed()
            var operation = try self.custom()
            operation.message.expiresAt = expiresAt
            return .custom(operation)
        case .signIn: return .signIn(try self.device())
        case .signOut: return .signOut(try self.deviceKey())
        case .setPushState: return .setPushState(try self.deviceKey(), try self.pushState())
        case .advance: return .advance(try self.deviceKey(), settled: try self.number(), decided: try self.number())
        case .markRead:
            return .markRead(
                try self.userKey(), try self.conversation(), upTo: try self.number(), at: try self.signed())
        case .keepLeg: return .keepLeg(try self.openLeg())
        case .endLeg:
            return .endLeg(EndedLeg(leg: try self.leg(), end: try self.legEnd(), at: try self.signed()))
        case .receipt:
            let leg = try self.leg()
            guard let receipt = LegReceipt(rawValue: try self.text()) else { throw .badValue("receipt") }
            return .receipt(leg, receipt, at: try self.signed())
        case .lost: return .lost
        case .objectNames:
            return .objectNames(
                AppID(try self.text()),
                try self.list { (reader) throws(StoredBytesFault) in ObjectName(try reader.text()) })
        case .userAccount:
            return .userAccount(
                try self.userKey(),
                AccountState(isBanned: try self.byte() == 1, tokensNotBefore: try self.optionalSigned()))
        case .account:
            return .account(AppID(try self.text()), try self.conversation(), isDeclared: try self.byte() == 1)
        }
    }

    private mutating func message() throws(StoredBytesFault) -> Message {
        Message(
            id: MessageID(rawValue: try self.fixed()), app: AppID(try self.text()), sender: UserID(try self.text()),
            conversation: try self.conversation(), clientMessageID: ClientMessageID(try self.text()),
            objectName: ObjectName(try self.text()), content: try self.text(),
            flags: MessageFlags(rawValue: try self.byte()), pushText: try self.optionalText(),
            sentAt: try self.signed())
    }

    mutating func conversation() throws(StoredBytesFault) -> ConversationID {
        guard let type = ConversationType(rawValue: try self.text()) else { throw .badValue("conversation kind") }
        return ConversationID(type: type, target: try self.text())
    }

    mutating func userKey() throws(StoredBytesFault) -> UserKey {
        UserKey(app: AppID(try self.text()), user: UserID(try self.text()))
    }

    private mutating func deviceKey() throws(StoredBytesFault) -> DeviceKey {
        DeviceKey(user: try self.userKey(), device: DeviceID(try self.text()))
    }

    private mutating func leg() throws(StoredBytesFault) -> LegID {
        LegID(
            message: MessageID(rawValue: try self.fixed()), user: try self.userKey(),
            device: try self.optionalText().map { DeviceID($0) })
    }

    private mutating func device() throws(StoredBytesFault) -> DeviceRecord {
        DeviceRecord(
            key: try self.deviceKey(), platform: try self.text(), push: try self.pushState(),
            settled: try self.number(), decided: try self.number(), since: try self.number(),
            signedInAt: try self.signed(), isSignedOut: try self.byte() == 1)
    }

    private mutating func pushState() throws(StoredBytesFault) -> PushState {
        switch try self.byte() {
        case 0: return .none
        case 1: return .registered(try self.registration(), at: try self.signed())
        case 2: return .quarantined(try self.registration(), at: try self.signed(), reason: try self.text())
        case 3: return .dead(timestamp: try self.signed())
        case 4: return .registered(try self.registration(), at: try self.signed(), wasAccepted: true)
        default: throw .badValue("push state")
        }
    }

    private mutating func registration() throws(StoredBytesFault) -> PushRegistration {
        let token = PushToken(try self.text())
        guard let environment = PushEnvironment(rawValue: try self.text()) else {
            throw .badValue("push environment")
        }
        return PushRegistration(token: token, environment: environment, topic: try self.text())
    }

    private mutating func openLeg() throws(StoredBytesFault) -> OpenLeg {
        let leg = try self.leg()
        let position = try self.number()
        guard let wait = LegWait(rawValue: try self.text()) else { throw .badValue("wait") }
        return OpenLeg(
            leg: leg, position: position, wait: wait, apnsID: try self.optionalText(),
            attempts: Int(try self.signed()), notBefore: try self.byte() == 0 ? nil : try self.signed())
    }

    private mutating func legEnd() throws(StoredBytesFault) -> LegEnd {
        switch try self.byte() {
        case 1: return .ownDevice
        case 2: return .noDevice
        case 3: return .signedOut
        case 4: return .notNotifiable
        case 5: return .settled(try self.disposition())
        case 6: return .readElsewhere
        case 7: return .recalled
        case 8: return .expired
        case 9: return .muted
        case 10: return .noToken
        case 11: return .tokenQuarantined(reason: "", status: 0)
        case 12: return .accepted(apnsID: try self.text())
        case 13: return .tokenDead(timestamp: try self.signed())
        case 14: return .rejected(reason: try self.text())
        case 15: return .quietHours
        case 16: return .disabled
        case 17:
            let reason = try self.text()
            guard let status = Int(exactly: try self.signed()) else { throw .badValue("status") }
            return .tokenQuarantined(reason: reason, status: status)
        default: throw .badValue("end of a leg")
        }
    }

    private mutating func disposition() throws(StoredBytesFault) -> Disposition {
        switch try self.byte() {
        case 1: return .shown
        case 2: return .appHandled
        case 3: return .leftToApp
        case 4:
            guard let reason = SuppressionReason(rawValue: try self.text()) else {
                throw .badValue("suppression reason")
            }
            return .suppressed(reason)
        default: throw .badValue("disposition")
        }
    }
}
