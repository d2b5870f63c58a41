package import StoreModel
package import TidingsModel

/// The messages that one step of a push job has sent, and their recipients. The record of the job has their text.
package struct PushStepRecord: Hashable {
    package var app: AppID
    package var job: PushJobID
    package var at: Int64
    package var isCustom: Bool
    /// Nobody is left.
    package var isLast = false
    package var cursor: UInt64 = 0
    package var lookedAt = 0
    package var skipped = 0
    /// How many had no device that was signed in.
    package var withoutDevice = 0
    /// Ascending.
    package var ids: [MessageID] = []
    /// By name: a person's number is not the same after a rebuild that has lost something.
    package var users: [UserID] = []
    /// The devices for each of the users, empty for all of theirs. Without an element if that holds for each.
    package var devices: [[DeviceID]] = []

    /// A recipient of the step, with their message.
    struct Recipient {
        var user: UserID
        var id: MessageID
        /// Empty for all of them.
        var devices: [DeviceID]
    }

    func recipient(of id: MessageID) -> Recipient? {
        let place = self.ids.sortedPlace { $0 < id }
        return place < self.ids.count && self.ids[place] == id ? self.recipient(place) : nil
    }

    func recipient(_ user: UserID) -> Recipient? { self.users.firstIndex(of: user).map { self.recipient($0) } }

    private func recipient(_ place: Int) -> Recipient {
        Recipient(
            user: self.users[place], id: self.ids[place], devices: self.devices.isEmpty ? [] : self.devices[place])
    }
}

extension PushJob {
    func entry(for recipient: PushStepRecord.Recipient, at: Int64) -> LogEntry.Body {
        self.entry(for: recipient.user, on: recipient.devices, id: recipient.id, at: at)
    }

    /// nil for a custom message.
    func message(for recipient: PushStepRecord.Recipient, at: Int64) -> Message? {
        self.message(for: recipient.user, on: recipient.devices, id: recipient.id, at: at)
    }
}

/// A job as a change has left it.
package struct PushStateRecord: Hashable {
    package var app: AppID
    package var job: PushJobID
    package var state: PushJob.State
    package var cursor: UInt64
    /// The pass of its local time.
    package var pass = 0
    package var changedAt: Int64
}

extension PushStepRecord: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.app, self.job, self.at, self.isCustom, self.isLast)
        writer.write(self.cursor, self.lookedAt, self.skipped, self.withoutDevice)
        writer.number(UInt64(self.ids.count))
        var last: UInt64 = 0
        for (id, user) in zip(self.ids, self.users) {
            writer.number(id.rawValue &- last)
            writer.write(user)
            last = id.rawValue
        }
        writer.write(self.devices)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(app: try reader.read(), job: try reader.read(), at: try reader.read(), isCustom: try reader.read())
        self.isLast = try reader.read()
        self.cursor = try reader.cursor()
        self.lookedAt = try reader.amount()
        (self.skipped, self.withoutDevice) = (try reader.amount(), try reader.amount())
        var last: UInt64 = 0
        for _ in 0..<(try reader.number()) {
            last &+= try reader.number()
            self.ids.append(MessageID(rawValue: last))
            self.users.append(try reader.read())
        }
        self.devices = try reader.read()
        guard self.devices.isEmpty || self.devices.count == self.users.count else {
            throw .badValue("devices of a push")
        }
    }
}

extension PushStateRecord: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.app, self.job, self.state, self.cursor, self.pass)
        writer.write(self.changedAt)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            app: try reader.read(), job: try reader.read(), state: try reader.read(), cursor: try reader.cursor(),
            pass: try reader.amount(), changedAt: try reader.read())
    }
}

extension PushJob.State: StoredValue {}
extension PushTextMode: StoredValue {}

/// A new job. The texts come first, where `JournalRow.erase` finds them.
extension PushJob: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self.body {
        case .message(let message):
            writer.byte(1)
            writer.pushOptions(message.push)
            writer.write(message)
        case .custom(let message):
            writer.write(2 as UInt8, message.title, message.content, message.contentType)
            writer.write(JSONValue.object(message.extras).text)
        }
        writer.write(self.id, self.app, self.account, self.audience, self.ignoresBlocks)
        writer.write(self.lifetimeMilliseconds, self.sendAt, self.ratePerSecond, self.createdAt)
        writer.write(self.lateMilliseconds, self.textMode, self.localTime)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        let body: Body
        switch try reader.byte() {
        case 1:
            let push = try reader.pushOptions()
            var message: Message = try reader.read()
            message.push = push
            body = .message(message)
        case 2:
            var message = CustomMessage(
                id: MessageID(rawValue: 0), title: try reader.read(), content: try reader.read(),
                contentType: try reader.read(), sentAt: 0)
            guard let extras = (try? JSONValue(parsing: try reader.text()))?.objectValue else {
                throw .badValue("object of extras")
            }
            message.extras = extras
            body = .custom(message)
        default: throw .badValue("body of a push")
        }
        let (id, app): (PushJobID, AppID) = (try reader.read(), try reader.read())
        self.init(
            id: id, app: app, account: try reader.read(), body: body, audience: try reader.read(),
            ignoresBlocks: try reader.read(), lifetimeMilliseconds: try reader.read(), sendAt: try reader.read(),
            ratePerSecond: try reader.read(), createdAt: try reader.read())
        (self.lateMilliseconds, self.textMode) = (try reader.read(), try reader.read())
        guard let local: PushLocalTime = try reader.read() else { return }
        guard let first = local.passes.first else { throw .badValue("passes of a push") }
        (self.localTime, self.sendAt) = (local, first.at)
    }
}

extension PushLocalTime: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.text, self.timeZone, self.passes) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(text: try reader.read(), timeZone: try reader.read(), passes: try reader.read())
    }
}

extension PushLocalTime.Pass: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.at, self.timeZones) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(at: try reader.read(), timeZones: try reader.read())
    }
}

extension PushAudience: StoredValue {
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .everybody: writer.byte(1)
        case .users(let users): writer.write(2 as UInt8, users)
        case .alias(let alias): writer.write(3 as UInt8, alias)
        case .tag(let tag): writer.write(4 as UInt8, tag)
        case .all(let parts): writer.write(5 as UInt8, parts)
        case .any(let parts): writer.write(6 as UInt8, parts)
        case .not(let part): writer.write(7 as UInt8, part)
        case .devices(let devices): writer.write(8 as UInt8, devices)
        }
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        try self.init(from: &reader, depth: 1)
    }

    /// Damaged bytes must not nest without an end.
    private init(from reader: inout ByteReader, depth: Int) throws(StoredBytesFault) {
        guard depth <= Self.depthMax else { throw .badValue("audience") }
        switch try reader.byte() {
        case 1: self = .everybody
        case 2: self = .users(try reader.read())
        case 3: self = .alias(try reader.read())
        case 4: self = .tag(try reader.read())
        case 5: self = .all(try Self.parts(from: &reader, depth: depth))
        case 6: self = .any(try Self.parts(from: &reader, depth: depth))
        case 7: self = .not(try PushAudience(from: &reader, depth: depth + 1))
        case 8: self = .devices(try reader.read())
        default: throw .badValue("audience")
        }
    }

    private static func parts(from reader: inout ByteReader, depth: Int) throws(StoredBytesFault) -> [PushAudience] {
        var parts: [PushAudience] = []
        for _ in 0..<(try reader.number()) { parts.append(try PushAudience(from: &reader, depth: depth + 1)) }
        return parts
    }
}

extension PushAudience.Device: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.user, self.device) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(user: try reader.read(), device: try reader.read())
    }
}

extension PushCounts: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.lookedAt, self.recipients, self.skipped, self.repeated)
        writer.write(self.shown, self.opened, self.recalled, self.ends)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init()
        (self.lookedAt, self.recipients) = (try reader.amount(), try reader.amount())
        (self.skipped, self.repeated) = (try reader.amount(), try reader.amount())
        (self.shown, self.opened) = (try reader.amount(), try reader.amount())
        self.recalled = try reader.amount()
        self.ends = try reader.read()
        guard self.ends.values.allSatisfy(ByteReader.amounts.contains) else { throw .badValue("count") }
    }
}

extension Alias: StoredValue {}

extension PersonLabels: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.aliases, self.tags) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(aliases: try reader.read(), tags: try reader.read())
    }
}

extension ByteReader {
    /// The range of counts, so that no sum of them overflows.
    fileprivate static let amounts = 0..<(1 << 48)

    mutating func amount() throws(StoredBytesFault) -> Int {
        let amount: Int = try self.read()
        guard Self.amounts.contains(amount) else { throw .badValue("count") }
        return amount
    }

    fileprivate mutating func cursor() throws(StoredBytesFault) -> UInt64 {
        let cursor = try self.number()
        guard cursor < 1 << 53 else { throw .badValue("cursor of a push") }
        return cursor
    }
}
