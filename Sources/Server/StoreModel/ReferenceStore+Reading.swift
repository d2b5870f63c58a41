import TidingsModel

extension ReferenceStore {
    func record(of key: UserKey) -> UserRecord {
        let record = self.people.read(key) { person in
            UserRecord(
                key: key, head: person.head, unread: person.counts.unread,
                devices: person.devices.values.sorted { $0.key < $1.key },
                openLegs: person.openLegs.values.sorted { $0.leg < $1.leg }, settings: person.settings,
                account: person.account, profile: person.profile, labels: person.labels)
        }
        return record ?? UserRecord(key: key, head: 0, unread: 0, devices: [], openLegs: [])
    }

    func page(of key: UserKey, after: LogPosition, limit: Int, frameBytesMax: Int) -> LogPage {
        guard let place = self.people.place(of: key) else { return LogPage(entries: [], head: 0, unread: 0) }
        let head = self.people[place].head
        var room = frameBytesMax
        var entries: [LogEntry] = []
        var erased: [LogPosition] = []
        let rest = after < head ? self.people[place].log[Int(after)...].prefix(max(0, limit)) : []
        for var entry in rest {
            let isErased = self.revise(&entry, of: place)
            room -= entry.body.frameBytes
            guard room >= 0 || entries.isEmpty else { break }
            if isErased { erased.append(entry.position) }
            entries.append(entry)
        }
        var names: [ConversationSender: MessageNames] = [:]
        for entry in entries {
            guard case .message(let message) = entry.body else { continue }
            let sender = ConversationSender(of: message)
            // Looked up once for each: a page has few.
            guard names[sender] == nil else { continue }
            let own = self.names(of: message)
            if own != MessageNames() { names[sender] = own }
        }
        let wereUnread = self.people[place].wereUnread
        let hushed = self.people[place].hushed
        return LogPage(
            entries: entries, head: head, unread: self.people[place].counts.unread, names: names,
            wereUnread: wereUnread.isEmpty ? [] : entries.map(\.position).filter { wereUnread.contains($0) },
            erased: erased,
            hushed: hushed.isEmpty ? [] : entries.map(\.position).filter { hushed.contains($0) })
    }

    /// Makes an entry read as it does now, and returns whether it is no longer for any device.
    private func revise(_ entry: inout LogEntry, of place: Int) -> Bool {
        switch entry.body {
        case .message(let message):
            guard let accepted = self.messages[message.id] else { return false }
            let isDeleted = self.people[place].deleted.contains(message.id)
            guard isDeleted || accepted.isRecalled || accepted.content != nil else { return false }
            let revised = accepted.message.revised(content: nil, isGone: isDeleted)
            let isHushed = self.people[place].hushed.contains(entry.position)
            entry.body = .message(isHushed ? revised.hushed : revised)
            return isDeleted || accepted.isRecalled
        case .edit(var edit):
            let isLast = self.people[place].lastEdits[edit.message] == entry.position
            guard
                !isLast || self.messages[edit.message]?.isRecalled == true
                    || self.people[place].deleted.contains(edit.message)
            else { return false }
            edit.content = ""
            entry.body = .edit(edit)
            return true
        case .conversationSettings(let conversation, var settings):
            settings.draft = self.people[place].settings.conversations[conversation]?.draft
            entry.body = .conversationSettings(conversation, settings)
            return false
        case .read, .custom, .recall, .deletion, .personSettings, .blocked, .change, .unknown: return false
        }
    }

    func people(of app: AppID, after: UserID?, limit: Int) -> StoreResult {
        let users = self.people.keys.filter { key in
            key.app == app && after.map { key.user > $0 } ?? true && self.people.read(key) { $0.isKnown } == true
        }.map(\.user).sorted()
        let page = users.prefix(limit).compactMap { user in
            self.people.read(UserKey(app: app, user: user)) { person in
                PersonSummary(
                    id: user, isBanned: person.account.isBanned,
                    devices: person.devices.values.count { !$0.isSignedOut }, unread: person.counts.unread)
            }
        }
        return .people(page, hasMore: users.count > page.count)
    }

    func unread(of key: UserKey, in conversation: ConversationID?) -> UnreadReport {
        let person = self.people.read(key) { $0 } ?? Person()
        return UnreadReport(
            counts: person.counts, head: person.head,
            conversation: conversation.map { id in
                let cursor = person.cursors[id] ?? Cursor()
                return UnreadReport.Conversation(
                    id: id, unread: cursor.unread, mentions: cursor.mentions, readUpTo: cursor.upTo,
                    isMuted: person.settings.isMuted(id))
            })
    }

    func trace(of id: MessageID, in app: AppID) -> MessageTrace? {
        let subject: MessageTrace.Subject
        let deliveries: [Delivery]
        if let accepted = self.messages[id], accepted.message.app == app {
            (subject, deliveries) = (.message(accepted.message), accepted.deliveries)
        } else if let other = self.others[id], other.subject.app == app {
            (subject, deliveries) = (other.subject, other.deliveries)
        } else {
            return nil
        }
        var open: [OpenLeg] = []
        for delivery in deliveries {
            guard let place = self.people.place(of: UserKey(app: app, user: delivery.user)),
                !self.people[place].openLegs.isEmpty
            else { continue }
            // tidy: order does not leave: all of them are sorted below
            open += self.people[place].openLegs.values.filter { $0.leg.message == id }
        }
        let ended = (self.ended[id] ?? Ends()).sorted.filter { $0.leg.user.app == app }
        let receipts = (self.receipts[id] ?? [:]).filter { $0.key.leg.user.app == app }
        return MessageTrace(
            of: subject, recall: self.messages[id]?.recall, author: self.messages[id]?.author, deliveries: deliveries,
            open: open.sorted { $0.leg < $1.leg }, ended: ended,
            receipts: receipts.map { .init(leg: $0.key.leg, receipt: $0.key.receipt, at: $0.value) }.sorted { $0 < $1 })
    }

    func withReports(_ trace: MessageTrace) -> MessageTrace {
        var trace = trace
        trace.reports = trace.devices.compactMap { key in
            let device = self.people.read(key.user) { $0.devices[key.device] } ?? nil
            return device?.status.map { DeviceReport(device: key, reported: $0) }
        }
        return trace
    }

    func receipts(of id: MessageID, in app: AppID, asked: UserID?) -> StoreResult {
        guard let trace = self.trace(of: id, in: app), let message = trace.message else {
            return .refused(StoreRules.unknownMessage(id))
        }
        if let asked, asked != message.sender { return .refused(StoreRules.notTheSender(of: message)) }
        return .receipts(
            trace.receipts(of: message) { user in
                guard let place = self.people.place(of: UserKey(app: app, user: user)) else { return (0, []) }
                let conversation = message.conversation(seenBy: user)
                let hidesReading = asked.map { self.people[place].settings.blocked.contains($0) } ?? false
                return (
                    hidesReading ? 0 : self.people[place].cursors[conversation]?.upTo ?? 0,
                    Array(self.people[place].devices.values)
                )
            })
    }

    func history(
        of key: UserKey, in conversation: ConversationID, before: MessageID?, limit: Int, room: RoomAccess
    ) -> StoreResult {
        if let fault = StoreRules.fault(inHistoryLimit: limit) { return .refused(fault) }
        if conversation.type == .chatRoom {
            let standing = self.standing(of: key.user, in: conversation, of: key.app, at: room.at)
            if let refusal = StoreRules.refusal(toEnter: conversation, standing, room: room) {
                return .refused(refusal)
            }
        }
        var all: [MessageID] = []
        if conversation.type == .chatRoom {
            guard let room = self.conversations[ConversationKey(app: key.app, conversation: conversation)] else {
                return .refused(StoreRules.unknownConversation(conversation))
            }
            all = room.messages
        } else {
            all = (self.people.read(key) { $0.log } ?? []).compactMap { entry in
                guard case .message(let message) = entry.body, message.conversation(seenBy: key.user) == conversation
                else { return nil }
                return message.id
            }
        }
        if let before {
            guard let end = all.firstIndex(of: before) else {
                return .refused(StoreRules.unknownMessage(before, field: "before"))
            }
            all = Array(all[..<end])
        }
        let hushed = self.hushed(for: key, in: conversation)
        let messages = all.reversed().lazy.compactMap { self.present($0, to: key) }
            .map { hushed($0) ? $0.hushed : $0 }.prefix(limit + 1)
        return .history(Array(messages.prefix(limit)), hasMore: messages.count > limit)
    }

    /// A chat room's message is in no log: there the person's block list is asked as it is now.
    private func hushed(for key: UserKey, in conversation: ConversationID) -> (Message) -> Bool {
        guard let place = self.people.place(of: key) else { return { _ in false } }
        if conversation.type == .chatRoom {
            let blocked = self.people[place].settings.blocked
            return { blocked.contains($0.sender) }
        }
        let hushed = Set(
            self.people[place].hushed.compactMap { position -> MessageID? in
                guard case .message(let message) = self.people[place].log[Int(position) - 1].body else { return nil }
                return message.id
            })
        return { hushed.contains($0.id) }
    }

    /// As it reads now; nil if it is not there for the person.
    func present(_ id: MessageID, to key: UserKey) -> Message? {
        guard let accepted = self.messages[id], accepted.message.flags.contains(.stored), !accepted.isRecalled,
            self.people.read(key, { $0.deleted.contains(id) }) != true
        else { return nil }
        return accepted.message
    }

    package var openLegCount: Int { self.people.indices.reduce(0) { $0 + self.people[$1].openLegs.count } }

    /// In a fixed order. `withMessages` includes the life of each message, which costs more than all else.
    package func dump(withMessages: Bool = true) -> StoreDump {
        let messages = withMessages ? (Array(self.messages.keys) + Array(self.others.keys)).sorted() : []
        // tidy: order does not leave: each person's are sorted
        let local = self.pushes.values.filter { !$0.reached.isEmpty }
        let people = self.people.keys.sorted().compactMap { key -> StoreDump.Person? in
            guard let person = self.people.read(key, { $0 }),
                person.head > 0 || !person.devices.isEmpty || !person.openLegs.isEmpty
                    || person.account != AccountState() || !person.profile.isEmpty || !person.labels.isEmpty
            else { return nil }
            return StoreDump.Person(
                record: self.record(of: key), counts: person.counts,
                log: self.page(of: key, after: 0, limit: .max, frameBytesMax: .max).entries,
                cursors: person.cursors.map {
                    .init(
                        conversation: $0.key, unread: $0.value.unread, mentions: $0.value.mentions,
                        upTo: $0.value.upTo, hasWritten: $0.value.hasWritten)
                }
                .sorted { $0.conversation < $1.conversation },
                deleted: person.deleted.sorted(),
                reachedBy: local.filter { $0.job.app == key.app && $0.reached.contains(key.user) }.map(\.job.id)
                    .sorted()
            )
        }
        return StoreDump(
            epoch: self.epoch, lastMessageID: self.lastMessageID, people: people,
            conversations: self.conversations.values.map(\.stored).sorted {
                ($0.record.app, $0.record.conversation) < ($1.record.app, $1.record.conversation)
            },
            messages: messages.compactMap { id in
                (self.messages[id]?.message.app ?? self.others[id]?.subject.app).flatMap { self.trace(of: id, in: $0) }
            },
            objectNames: self.objectNames, accounts: self.accounts,
            followers: self.followers, control: self.control, audit: self.audit,
            revisions: self.messages.values.filter { $0.isRecalled || $0.content != nil }.map {
                .init(message: $0.message.id, content: $0.content, isRecalled: $0.isRecalled)
            }.sorted { $0.message < $1.message },
            kept: self.kept.values.flatMap(\.values).sorted { $0.key < $1.key },
            pushes: self.pushes.values.map(\.job).sorted { $0.id < $1.id }, aliases: self.aliases)
    }
}

extension MessageTrace.Receipt: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.leg == right.leg ? left.receipt.rawValue < right.receipt.rawValue : left.leg < right.leg
    }
}
