import OrderedCollections
public import TidingsModel

/// Which messages this phone has rung for, shared by the app and its extension through the app group (design.md P3).
///
/// A value: the shell reads it, asks, and writes it back under one short lock. A process that is about to show a message claims it
/// first and marks it shown afterwards; a claim whose owner died is settled by looking at the delivered notifications.
public struct Ledger: Hashable, Sendable {
    /// Who claims.
    public enum Holder: Hashable, Sendable {
        /// The kit in one process of the app; the number tells that process from an earlier one.
        case kit(process: UInt64)
        /// The notification service extension. Once it has claimed, the system shows the push whatever becomes of it.
        case pushExtension
    }

    /// The state of one message.
    public struct Entry: Hashable, Sendable {
        /// Who claimed it.
        public var holder: Holder
        /// When, in wall milliseconds of this phone.
        public var claimedAt: Int64
        /// True if the message has been shown.
        public var isShown: Bool
        /// True if the sender has recalled the message or the person has deleted it: nothing of it may be read any more, and it counts as
        /// shown.
        public var isRecalled: Bool

        /// An entry from its parts.
        public init(holder: Holder, claimedAt: Int64, isShown: Bool, isRecalled: Bool = false) {
            self.holder = holder
            self.claimedAt = claimedAt
            self.isShown = isShown
            self.isRecalled = isRecalled
        }
    }

    private var entries: OrderedDictionary<MessageID, Entry>
    /// Not part of the value.
    private var changes = Changes()

    package struct Changes: Hashable, Sendable {
        package var isReset = false
        /// In order, possibly more than once.
        package var messages: [MessageID] = []
    }

    /// How many messages it remembers at least; the oldest are forgotten first, and many at a time. A phone keeps far fewer
    /// notifications.
    public static let capacity = 1_000
    /// How many more there may be before the oldest are forgotten.
    public static let slack = 250
    /// How long an entry is kept, in milliseconds: as long as APNs keeps a push, 30 days (apns.md §15).
    public static let ageMaxMilliseconds: Int64 = 2_592_000_000
    /// How long a claim of the kit counts before the delivered list is asked, in milliseconds.
    public static let kitClaimMilliseconds: Int64 = 5_000
    /// The extension has 30 seconds (ios-delivery.md §10), in milliseconds.
    public static let extensionClaimMilliseconds: Int64 = 30_000

    /// An empty ledger.
    public init() {
        self.entries = [:]
        self.changes.isReset = true
    }

    /// Equal if they say the same of every message, in the same order.
    public static func == (left: Ledger, right: Ledger) -> Bool { left.entries == right.entries }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.entries) }

    package mutating func drainChanges() -> Changes {
        defer { self.changes = Changes() }
        return self.changes
    }

    /// Does not count as a change.
    package mutating func restore(_ message: MessageID, _ entry: Entry?) {
        guard let entry else {
            self.entries.removeValue(forKey: message)
            return
        }
        if self.entries[message]?.claimedAt != entry.claimedAt { self.entries.removeValue(forKey: message) }
        self.entries[message] = entry
        self.prune(wall: entry.claimedAt)
    }

    /// Claims a message; `.granted` means that the caller is to show it now. `isDelivered` is nil if the delivered list was not looked at.
    public mutating func claim(
        _ message: MessageID, by holder: Holder, isDelivered: Bool? = nil, wall: Int64
    ) -> RingClaim {
        if let entry = self.entries[message] {
            if entry.isRecalled { return .recalled }
            if entry.isShown { return .alreadyShown }
            if self.isLive(entry, for: holder, wall: wall) { return .heldByAnother }
            switch isDelivered {
            case nil: return .lookAtDelivered
            case true?:
                self.change(message) { $0.isShown = true }
                return .alreadyShown
            case false?: break
            }
        } else if isDelivered == true {
            self.insert(Entry(holder: holder, claimedAt: wall, isShown: true), for: message)
            return .alreadyShown
        }
        self.insert(Entry(holder: holder, claimedAt: wall, isShown: false), for: message)
        return .granted
    }

    /// How long a claim of the app's counts from now on, in milliseconds, 1 to `kitClaimMilliseconds`; nil if there is none, or
    /// it has been shown.
    func kitClaimLeft(_ message: MessageID, wall: Int64) -> Int64? {
        guard let entry = self.entries[message], !entry.isShown, case .kit = entry.holder,
            self.isLive(entry, for: .pushExtension, wall: wall)
        else { return nil }
        return entry.claimedAt + Self.kitClaimMilliseconds - wall
    }

    /// Marks a message shown, claimed or not.
    public mutating func markShown(_ message: MessageID, by holder: Holder, wall: Int64) {
        if self.entries[message] == nil {
            self.insert(Entry(holder: holder, claimedAt: wall, isShown: true), for: message)
        } else if self.entries[message]?.isShown == false {
            self.change(message) { $0.isShown = true }
        }
    }

    /// Marks a message recalled, claimed or not: a process that is at work on it asks once more before it shows it.
    public mutating func markRecalled(_ message: MessageID, by holder: Holder, wall: Int64) {
        if self.entries[message] == nil {
            self.insert(Entry(holder: holder, claimedAt: wall, isShown: true, isRecalled: true), for: message)
        } else if self.entries[message]?.isRecalled == false {
            self.change(message) { entry in
                entry.isShown = true
                entry.isRecalled = true
            }
        }
    }

    /// Gives a claim back; what was shown, and another holder's claim, stays.
    public mutating func release(_ message: MessageID, by holder: Holder) {
        guard let entry = self.entries[message], !entry.isShown, entry.holder == holder else { return }
        self.entries.removeValue(forKey: message)
        self.changes.messages.append(message)
    }

    /// The claims whose owner can no longer answer for them: after a start, the shell looks at the delivered list and calls
    /// `recover(delivered:process:wall:)` (design.md P3).
    public func unsettled(process: UInt64, wall: Int64) -> [MessageID] {
        self.entries.filter { !$0.value.isShown && !self.isLive($0.value, for: .kit(process: process), wall: wall) }
            .map(\.key)
    }

    /// Settles claims of dead owners by the delivered list: what is there was shown, what is not may be shown again.
    public mutating func recover(delivered: Set<MessageID>, process: UInt64, wall: Int64) {
        for message in self.unsettled(process: process, wall: wall) {
            if delivered.contains(message) {
                self.change(message) { $0.isShown = true }
            } else {
                self.entries.removeValue(forKey: message)
                self.changes.messages.append(message)
            }
        }
    }

    /// Returns the entry of a message; nil if there is none.
    public subscript(message: MessageID) -> Entry? { self.entries[message] }

    /// All entries, oldest claim first.
    public var all: [(message: MessageID, entry: Entry)] { self.entries.map { ($0.key, $0.value) } }

    /// While its owner can still be at work. A process asks again only when it has lost the answer.
    private func isLive(_ entry: Entry, for holder: Holder, wall: Int64) -> Bool {
        let age = wall - entry.claimedAt
        switch (entry.holder, holder) {
        case (.kit(let owner), .kit(let asking)): return owner == asking && age >= 0 && age < Self.kitClaimMilliseconds
        case (.kit, .pushExtension): return age >= 0 && age < Self.kitClaimMilliseconds
        case (.pushExtension, .kit), (.pushExtension, .pushExtension):
            return age >= 0 && age < Self.extensionClaimMilliseconds
        }
    }

    private mutating func insert(_ entry: Entry, for message: MessageID) {
        // The newest stands last.
        self.entries.removeValue(forKey: message)
        self.entries[message] = entry
        self.changes.messages.append(message)
        self.prune(wall: entry.claimedAt)
    }

    private mutating func change(_ message: MessageID, _ body: (inout Entry) -> Void) {
        guard var entry = self.entries[message] else { return }
        body(&entry)
        self.entries[message] = entry
        self.changes.messages.append(message)
    }

    package var count: Int { self.entries.count }

    /// Forgets old entries. Every process that reads the same records forgets the same ones, so this change does not have to be stored.
    private mutating func prune(wall: Int64) {
        if self.entries.count > Self.capacity + Self.slack {
            self.entries.removeFirst(self.entries.count - Self.capacity)
        }
        while let oldest = self.entries.elements.first, wall - oldest.value.claimedAt > Self.ageMaxMilliseconds {
            self.entries.removeFirst()
        }
    }

    /// Restores a ledger from its stored entries; the oldest beyond capacity and slack are dropped.
    public init(restoring entries: [(message: MessageID, entry: Entry)]) {
        self.init()
        for (message, entry) in entries { self.insert(entry, for: message) }
    }
}

/// The ledger's answer to a claim.
public enum RingClaim: Hashable, Sendable {
    /// Show it, then mark it shown.
    case granted
    /// It has been shown; show nothing that rings.
    case alreadyShown
    /// It was recalled, or deleted by the person; show nothing of it.
    case recalled
    /// Another process is showing it right now.
    case heldByAnother
    /// The owner of an earlier claim is gone: look whether the notification is in the delivered list and claim again with
    /// the answer.
    case lookAtDelivered
}
