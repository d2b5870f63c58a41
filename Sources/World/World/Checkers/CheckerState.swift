import ClientCore
import DequeModule
import OrderedCollections
import StoreModel
import TidingsModel

struct CheckerState {
    private(set) var now = Now(monotonic: 0, wall: 0)
    /// A later life begins with everything that is committed.
    private(set) var life = 0
    /// How far the server's wall clock was ahead, in milliseconds, one after the other.
    private(set) var skews: [Int64] = [0]
    private(set) var committed = StoreView(keepsMessages: true)
    private(set) var known = StoreView(keepsMessages: false)
    private(set) var names = NameBook()
    /// Who may have legs; of the leg that a fact is about, its holder's number.
    private(set) var holders = LegHolders()
    private(set) var holder = 0
    /// By the devices' places in `committed.devices`.
    private var deviceHolders: [Int] = []
    /// Results the core was not told yet and that change what it knows, each with how many were committed before it.
    private var unheard: Deque<(number: Int, command: StoreCommand, result: StoreResult, wall: Int64)> = []
    private var committedCount = 0
    private var heardCount = 0

    /// The times that the server's wall clock would show now, had it been left alone at one time or another.
    var walls: [Int64] { self.skews.map { self.now.wall - (self.skews.last ?? 0) + $0 } }

    mutating func apply(_ fact: Fact, _ kind: FactKind, at now: Now) {
        self.now = now
        switch fact {
        case .committed(let command, let result):
            if kind != .otherTenantStored {
                if StoreView.kinds.contains(kind) { self.committed.apply(command, result, wall: now.wall) }
                self.nameHolders(command, result)
                if NameBook.kinds.contains(kind) {
                    self.names.apply(command, result, messages: self.committed.messages.count)
                }
            }
            if StoreView.kindsWithoutMessages.contains(kind) {
                self.unheard.append((self.committedCount, command, result, now.wall))
            }
            self.committedCount += 1
        case .heard: self.catchUp(to: min(self.heardCount + 1, self.committedCount))
        case .serverStarted:
            self.life += 1
            self.catchUp(to: self.committedCount)
        case .clockSet(let ahead):
            self.skews.append(ahead)
            self.committed.hasJumped = true
        default: break  // tidy: the other facts change nothing of what is committed or known
        }
    }

    private mutating func catchUp(to count: Int) {
        self.heardCount = count
        while let first = self.unheard.first, first.number < count {
            self.unheard.removeFirst()
            self.known.apply(first.command, first.result, wall: first.wall)
        }
    }

    /// The devices on which a person is signed in, each with the log position from which on it has legs.
    func devices(of user: UserKey) -> [(holder: Int, since: LogPosition)] {
        self.committed.devices(of: user).map { (self.deviceHolders[$0], self.committed.devices.values[$0].since) }
    }

    /// Numbers those to whom legs belong before a checker is told of them.
    private mutating func nameHolders(_ command: StoreCommand, _ result: StoreResult) {
        switch (command, result) {
        case (.endLeg(let end), _): self.holder = self.holders.findOrAdd(end.leg.user, end.leg.device)
        case (.keepLeg(let open), _): self.holder = self.holders.findOrAdd(open.leg.user, open.leg.device)
        case (.signIn(let key, _, _, _), .device):
            let holder = self.holders.findOrAdd(key.user, key.device)
            if self.deviceHolders.count < self.committed.devices.count { self.deviceHolders.append(holder) }
        case (.accept(let message, _, _, _, _, _), .accepted(let deliveries, _, _)):
            for delivery in deliveries {
                let user = UserKey(app: message.app, user: delivery.user)
                if self.committed.devices(of: user).isEmpty { _ = self.holders.findOrAdd(user, nil) }
            }
        case (_, .recalled(_, _, _, let shown)):
            for leg in shown { _ = self.holders.findOrAdd(leg.user, leg.device) }
        default: break  // tidy: the other commands are about nobody's legs
        }
    }
}

struct StoreView {
    /// It is looked up for each leg, and much to copy: all hold the one.
    final class Accepted {
        let message: Message
        let deliveries: [Delivery]
        let device: DeviceID?
        /// Who has written it as the account that is its sender.
        let author: UserID?
        let number: Int

        init(message: Message, deliveries: [Delivery], device: DeviceID?, author: UserID?, number: Int) {
            self.message = message
            self.deliveries = deliveries
            self.device = device
            self.author = author
            self.number = number
        }

        func position(of user: UserID) -> LogPosition? { self.deliveries.first { $0.user == user }?.position }

        /// The person had blocked its sender.
        func isHushed(for user: UserID) -> Bool { self.deliveries.contains { $0.user == user && $0.isHushed } }
    }

    struct Settings {
        var wall: Int64
        var all: AllSettings
    }

    static let kinds: FactKinds = [kindsWithoutMessages, FactKinds(.accept, .acceptCustom)]
    static let kindsWithoutMessages = FactKinds(
        .recall, .edit, .delete, .change, .markRead, .set, .signIn, .signOut, .setPushState)

    /// True if it keeps which messages there are, and how many were unread where.
    private let keepsMessages: Bool
    private(set) var messages: OrderedDictionary<MessageID, Accepted> = [:]
    private(set) var contents: OrderedDictionary<MessageID, String> = [:]
    private(set) var recalled: OrderedDictionary<MessageID, Int64> = [:]
    private(set) var custom: OrderedSet<MessageID> = []
    private(set) var devices: OrderedDictionary<DeviceKey, DeviceRecord> = [:]
    /// By person, the places in `devices`, also of those that are signed out.
    private var owned: OrderedDictionary<UserKey, [Int]> = [:]
    private var tokens: OrderedSet<DeviceKey> = []
    private var owners: OrderedDictionary<PushToken, DeviceKey> = [:]
    private var registrations: OrderedDictionary<DeviceKey, PushRegistration> = [:]
    /// How many messages were unread when a person's log ended at a position, by position.
    private var unread: OrderedDictionary<UserID, [Int?]> = [:]
    var hasJumped = false
    private var deleted: OrderedDictionary<UserID, OrderedSet<MessageID>> = [:]
    private var readUpTo: OrderedDictionary<UserID, OrderedDictionary<ConversationID, LogPosition>> = [:]
    private var settings: OrderedDictionary<UserID, [Settings]> = [:]

    init(keepsMessages: Bool) { self.keepsMessages = keepsMessages }

    func settings(of user: UserID) -> AllSettings { self.settings[user]?.last?.all ?? AllSettings() }

    /// Everything counts that held in that millisecond.
    func held(by user: UserID, at wall: Int64, _ fits: (AllSettings) -> Bool) -> Bool {
        let all = self.settings[user] ?? []
        // With a clock that was set it is unknown what held when.
        if self.hasJumped { return fits(AllSettings()) || all.contains { fits($0.all) } }
        let before = all.lastIndex { $0.wall < wall }
        return fits(before.map { all[$0].all } ?? AllSettings())
            || all[(before.map { $0 + 1 } ?? 0)...].prefix { $0.wall == wall }.contains { fits($0.all) }
    }

    /// The places in `devices` of those on which a person is signed in.
    func devices(of user: UserKey) -> [Int] {
        self.owned[user]?.filter { !self.devices.values[$0].isSignedOut } ?? []
    }

    func isDeleted(_ message: MessageID, by user: UserID) -> Bool { self.deleted[user]?.contains(message) ?? false }

    func hasToken(_ leg: LegID) -> Bool {
        leg.device.map { self.tokens.contains(DeviceKey(user: leg.user, device: $0)) } ?? false
    }

    func registration(of key: DeviceKey) -> PushRegistration? { self.registrations[key] }

    /// The device that has registered a token last; nil if it has taken it back.
    func owner(of token: PushToken) -> DeviceKey? { self.owners[token] }

    func unread(of user: UserID, at position: LogPosition) -> Int? {
        guard let unread = self.unread[user], position < unread.count else { return nil }
        return unread[Int(position)]
    }

    func readUpTo(_ conversation: ConversationID, by user: UserID) -> LogPosition {
        self.readUpTo[user]?[conversation] ?? 0
    }

    mutating func apply(_ command: StoreCommand, _ result: StoreResult, wall: Int64) {
        if self.keepsMessages { self.count(command, result) }
        switch (command, result) {
        case (.accept(let message, let device, _, _, _, let author), .accepted(let deliveries, _, _)):
            self.messages[message.id] = Accepted(
                message: message, deliveries: deliveries, device: device, author: author, number: self.messages.count)
        case (.acceptCustom(let operation), .accepted): self.custom.append(operation.message.id)
        case (.recall, .recalled(let recall, _, _, _)): self.recalled[recall.message] = wall
        case (.edit, .noted(.edit(let edit)?, _)): self.contents[edit.message] = edit.content
        case (.delete(let key, _, _), .noted(.deletion(let deletion)?, _)):
            self.deleted[key.user, default: []].formUnion(deletion.messages)
        case (.markRead(let key, let conversation, let upTo, _), .read):
            let before = self.readUpTo(conversation, by: key.user)
            self.readUpTo[key.user, default: [:]][conversation] = max(before, upTo)
        case (_, .changed(let changes, _)):
            // A former member has nothing unread there.
            for made in changes {
                for delivery in made.deliveries where made.change.removes(delivery.user) {
                    self.readUpTo[delivery.user, default: [:]][made.change.conversation] = delivery.position
                }
            }
        case (.signIn(let key, _, _, _), .device(let record)):
            if self.devices.updateValue(record, forKey: key) == nil {
                self.owned[key.user, default: []].append(self.devices.count - 1)
            }
        case (.signOut(let key, _), .done):
            self.devices[key]?.isSignedOut = true
            self.registrations[key] = nil
            self.tokens.remove(key)
            self.owners.removeAll { $0.value == key }
        case (.setPushState(let key, let state, let about), .done):
            self.applyPushState(state, of: key, about: about, from: [])
        case (.setPushState(let key, let state, let about), .taken(let others)):
            self.applyPushState(state, of: key, about: about, from: others)
        case (_, .noted(let body?, let deliveries)):
            guard let user = deliveries.first?.user else { return }
            var all = self.settings(of: user)
            all.apply(body)
            if all != self.settings(of: user) {
                self.settings[user, default: []].append(Settings(wall: wall, all: all))
            }
        default: break  // tidy: the other results say nothing a promise looks at
        }
    }

    /// A device registers, or APNs has said something about its registration: that counts only for the device's
    /// current one.
    private mutating func applyPushState(
        _ state: PushState, of key: DeviceKey, about: PushRegistration?, from others: [DeviceKey]
    ) {
        guard self.devices[key]?.isSignedOut == false, about == nil || about == self.registrations[key] else { return }
        for other in others { self.registrations[other] = nil }
        self.tokens.subtract(others)
        self.registrations[key] = state.registration
        self.tokens.remove(key)
        self.owners.removeAll { $0.value == key }
        guard case .registered(let registration, _, _) = state else { return }
        self.owners[registration.token] = key
        self.tokens.append(key)
    }

    private mutating func count(_ command: StoreCommand, _ result: StoreResult) {
        switch (command, result) {
        case (_, .accepted(let deliveries, _, _)), (_, .recalled(_, _, let deliveries, _)),
            (_, .noted(_, let deliveries)):
            self.count(deliveries)
        case (_, .changed(let changes, _)): for made in changes { self.count(made.deliveries) }
        case (.markRead(let key, _, _, _), .read(let position?, let unread)):
            Self.setUnread(unread, at: position, in: &self.unread[key.user, default: []])
        default: break  // tidy: the other results are about nobody's log
        }
    }

    private mutating func count(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            Self.setUnread(delivery.unread, at: delivery.position, in: &self.unread[delivery.user, default: []])
        }
    }

    private static func setUnread(_ count: Int, at position: LogPosition, in unread: inout [Int?]) {
        while unread.count <= position { unread.append(nil) }
        unread[Int(position)] = count
    }
}
