import StoreModel
import TidingsModel

/// The number of steps, then each: a byte for its kind, its time as the distance from the step before (from 0 for the first), and the rest.
extension LegSteps: StoredValue {
    func write(to writer: inout ByteWriter) {
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

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
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

    fileprivate var at: Int64? {
        switch self {
        case .waited(_, _, let at), .turned(_, let at), .pushed(_, let at), .answered(_, _, _, let at),
            .read(_, let at):
            at
        case .judged: nil
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
