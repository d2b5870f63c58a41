package import StoreModel
package import TidingsModel

/// The number of steps, then each: a byte for its kind, its time as the distance from the step before (from 0 for the first), and the rest.
extension LegSteps: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.number(UInt64(self.all.count))
        var before: Int64 = 0
        for step in self.all {
            writer.byte(step.kind)
            if let at = step.at {
                writer.signed(at &- before)
                before = at
            }
            step.writeRest(to: &writer)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init()
        var at: Int64 = 0
        let count = try reader.number()
        guard count <= UInt64(Self.countMax) else { throw .badValue("number of steps of a leg") }
        for _ in 0..<count {
            let kind = try reader.byte()
            if kind != LegStep.judged.kind { at = at &+ (try reader.signed()) }
            self.append(try LegStep(kind, at: at, from: &reader))
        }
    }
}

extension LegStep {
    /// A number is never used again for another kind.
    fileprivate var kind: UInt8 {
        switch self {
        case .waited: 1
        case .turned: 2
        case .pushed: 3
        case .answered: 4
        case .read: 5
        case .judged: 6
        }
    }

    fileprivate func writeRest(to writer: inout ByteWriter) {
        switch self {
        case .waited(let wait, let until, let at): writer.write(wait, until.map { $0 &- at })
        case .turned(let turn, _): writer.write(turn)
        case .pushed(let push, _):
            writer.write(push.carrier, push.attempt, push.topic, push.environment == .production)
            writer.write(push.expiration)
        case .answered(let outcome, let status, let reason, _): writer.write(outcome, status, reason)
        case .read(let device, _): writer.write(device)
        case .judged: break
        }
    }

    fileprivate init(_ kind: UInt8, at: Int64, from reader: inout ByteReader) throws(StoredBytesFault) {
        switch kind {
        case 1:
            let wait: LegWait = try reader.read()
            let distance: Int64? = try reader.read()
            self = .waited(wait, until: distance.map { at &+ $0 }, at: at)
        case 2: self = .turned(try reader.read(), at: at)
        case 3:
            let (carrier, attempt): (MessageID?, Int) = (try reader.read(), try reader.read())
            let (topic, isProduction): (String, Bool) = (try reader.read(), try reader.read())
            self = .pushed(
                LegPush(
                    carrier: carrier, attempt: attempt, topic: topic,
                    environment: isProduction ? .production : .sandbox, expiration: try reader.read()), at: at)
        case 4:
            let (outcome, status): (LegPushOutcome, Int) = (try reader.read(), try reader.read())
            self = .answered(outcome, status: status, reason: try reader.read(), at: at)
        case 5: self = .read(on: try reader.read(), at: at)
        case 6: self = .judged
        default: throw .badValue("step of a leg")
        }
    }
}

extension LegTurn: StoredValue {}
extension LegPushOutcome: StoredValue {}

extension LegWait: StoredValue {}
extension LegReceipt: StoredValue {}

extension LegID: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.message, self.user, self.device) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(message: try reader.read(), user: try reader.read(), device: try reader.read())
    }
}

/// Without steps and job: the kind of the record says whether they follow.
extension OpenLeg: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.leg, self.position, self.wait)
        writer.write(self.apnsID, self.attempts, self.notBefore)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            leg: try reader.read(), position: try reader.read(), wait: try reader.read(), apnsID: try reader.read(),
            attempts: try reader.read(), notBefore: try reader.read())
    }
}

/// Stored like `OpenLeg`.
extension EndedLeg: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.leg, self.end, self.at) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(leg: try reader.read(), end: try reader.read(), at: try reader.read())
    }
}

extension LegEnd: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .ownDevice: writer.byte(1)
        case .noDevice: writer.byte(2)
        case .signedOut: writer.byte(3)
        case .notNotifiable: writer.byte(4)
        case .settled(let disposition): writer.write(5 as UInt8, disposition)
        case .readElsewhere: writer.byte(6)
        case .recalled: writer.byte(7)
        case .expired: writer.byte(8)
        case .muted: writer.byte(9)
        case .noToken: writer.byte(10)
        case .tokenQuarantined(let reason, let status): writer.write(11 as UInt8, reason, status)
        case .accepted(let apnsID): writer.write(12 as UInt8, apnsID)
        case .tokenDead(let timestamp): writer.write(13 as UInt8, timestamp)
        case .rejected(let reason): writer.write(14 as UInt8, reason)
        case .quietHours: writer.byte(15)
        case .disabled: writer.byte(16)
        case .blocked: writer.byte(17)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        switch try reader.byte() {
        case 1: self = .ownDevice
        case 2: self = .noDevice
        case 3: self = .signedOut
        case 4: self = .notNotifiable
        case 5: self = .settled(try reader.read())
        case 6: self = .readElsewhere
        case 7: self = .recalled
        case 8: self = .expired
        case 9: self = .muted
        case 10: self = .noToken
        case 11: self = .tokenQuarantined(reason: try reader.read(), status: try reader.read())
        case 12: self = .accepted(apnsID: try reader.read())
        case 13: self = .tokenDead(timestamp: try reader.read())
        case 14: self = .rejected(reason: try reader.read())
        case 15: self = .quietHours
        case 16: self = .disabled
        case 17: self = .blocked
        default: throw .badValue("end of a leg")
        }
    }
}

extension SuppressionReason: StoredValue {}

extension Disposition: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .shown: writer.byte(1)
        case .appHandled: writer.byte(2)
        case .leftToApp: writer.byte(3)
        case .suppressed(let reason): writer.write(4 as UInt8, reason)
        case .notified: writer.byte(5)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        switch try reader.byte() {
        case 1: self = .shown
        case 2: self = .appHandled
        case 3: self = .leftToApp
        case 4: self = .suppressed(try reader.read())
        case 5: self = .notified
        default: throw .badValue("disposition")
        }
    }
}
