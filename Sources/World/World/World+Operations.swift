import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

// What people do beside writing and reading: recall, edit, delete, silence, hide, block, mute, come and go.
extension World {
    mutating func operate(_ index: Int) {
        guard let process = self.phones[index].core.process(of: Self.bundle) else { return }
        switch self.chance.number(0...19) {
        case 0...2: self.recallMessage(own: true, in: process, on: index)
        case 3: self.recallMessage(own: false, in: process, on: index)
        case 4...5: self.editMessage(in: process, on: index)
        case 6: self.deleteMessage(in: process, on: index)
        case 7...9: self.setLevel(in: process, on: index)
        case 10: self.setQuietHours(in: process, on: index)
        case 11: self.setForEverything(in: process, on: index)
        case 12: self.changeBlocking(in: process, on: index)
        case 13...14: self.changeMembers(in: process, on: index)
        case 15 where self.chance.chance(perMille: 500): self.signOut(in: process, on: index)
        case 15: self.signOutOther(in: process, on: index)
        case 16: self.changeWriting(in: process, on: index)
        case 17...18: self.answerInvitation(in: process, on: index)
        case _ where self.chance.chance(perMille: 500): self.changeList(in: process, on: index)
        default:
            let conversation = self.anyConversation(of: index)
            self.handle(
                .typingRequested(conversation, isTyping: self.chance.chance(perMille: 500)), in: process, on: index)
        }
    }

    // MARK: Messages

    private mutating func recallMessage(own: Bool, in process: ProcessID, on index: Int) {
        let person = self.phones[index].person
        let recent = self.phones[index].disk.store.rows.messages.elements.suffix(12).filter { _, item in
            guard !item.isRecalled else { return false }
            return own ? item.message.sender == person : item.conversation.hasMembers && item.message.sender != person
        }
        guard let (message, _) = recent.last else { return }
        self.sendRequest(.recall(message), in: process, on: index)
    }

    private mutating func editMessage(in process: ProcessID, on index: Int) {
        let person = self.phones[index].person
        let own = self.phones[index].disk.store.rows.messages.elements.suffix(12).filter {
            $0.value.message.sender == person && $0.value.message.objectName == .text
        }
        guard let (message, _) = own.last else { return }
        let text = JSONValue.members([("content", .string("e\(index)-\(self.time)"))]).text
        self.sendRequest(.edit(message, content: text), in: process, on: index)
    }

    mutating func deleteMessage(in process: ProcessID, on index: Int) {
        let latest = self.phones[index].disk.store.rows.messages.elements.suffix(8)
        guard let (message, item) = self.drawn(Array(latest)) else { return }
        self.sendRequest(
            .delete(Deletion(conversation: item.conversation, messages: [message])), in: process, on: index)
    }

    // MARK: Settings

    private mutating func setLevel(in process: ProcessID, on index: Int) {
        let conversation = self.anyConversation(of: index)
        let isSet = self.phones[index].disk.store.preferences().current.conversations[conversation]?.level != nil
        guard !isSet || self.chance.chance(perMille: 300) else {
            return self.pendingChange(.conversation(conversation, ConversationSettings()), in: process, on: index)
        }
        let level = self.drawn(NotificationLevel.allCases)
        // A level that ends does so while people look at the app after healing, at the latest.
        let latest = self.options.duration + 480_000
        let until = min(latest, self.time + self.chance.number(10_000...900_000))
        let hasEnd = self.chance.chance(perMille: 400)
        self.pendingChange(
            .conversation(
                conversation, ConversationSettings(level: level, levelUntil: hasEnd ? Self.wallStart + until : nil)),
            in: process, on: index)
    }

    mutating func setQuietHours(in process: ProcessID, on index: Int) {
        guard self.phones[index].disk.store.preferences().current.person.quietHours == nil else {
            return self.pendingChange(.quietHours(nil), in: process, on: index)
        }
        let minute = self.time / 60_000
        let start = minute + self.chance.number(-2...5)
        let hours = QuietHours(
            start: Int((start + 1_440) % 1_440), end: Int((start + self.chance.number(2...15)) % 1_440),
            timeZone: "Etc/UTC", manner: self.chance.chance(perMille: 400) ? .drop : .defer)
        self.pendingChange(.quietHours(hours), in: process, on: index)
    }

    mutating func changeList(in process: ProcessID, on index: Int) {
        let conversation = self.anyConversation(of: index)
        let store = self.phones[index].disk.store
        let current = store.preferences().current.conversations[conversation] ?? ConversationSettings()
        let newest = store.rows.messages.elements.last { $0.value.conversation == conversation }?.key
        let change: ConversationStateChange =
            switch self.chance.number(0...3) {
            case 0: .pinned(current.pinnedAt == nil)
            case 1: .archived(!current.isArchived)
            case 2: .hidden(upTo: current.hiddenUpTo == nil ? newest ?? MessageID(rawValue: 0) : nil)
            default: .draft(current.draft == nil ? "draft of \(self.time)" : nil)
            }
        self.pendingChange(.state(conversation, change, at: self.now.wall), in: process, on: index)
    }

    mutating func setForEverything(in process: ProcessID, on index: Int) {
        let current = self.phones[index].disk.store.preferences().current.person
        switch self.chance.number(0...3) {
        case 3:
            guard let consent = self.drawn(AddingConsent.allCases) else { return }
            self.pendingChange(.mayBeAddedBy(consent), in: process, on: index)
        case 0...1: self.pendingChange(.hidesContent(!current.hidesContent), in: process, on: index)
        default:
            let isSilent = current.levels[.group] != nil
            self.pendingChange(.level(.group, isSilent ? .all : .mentions), in: process, on: index)
        }
    }

    mutating func pendingChange(_ pendingChange: PendingSettingsChange, in process: ProcessID, on index: Int) {
        // The app is told that its store has failed.
        guard !self.phones[index].isFull else { return }
        self.appendTrace("person on phone \(index) sets \(pendingChange.key)", more: "\(pendingChange)")
        _ = self.phones[index].disk.carryOut(.addPendingChange(pendingChange))
        self.handle(.settingRequested(pendingChange), in: process, on: index)
        self.planClientEvent(.unreadCounted(self.phones[index].counts.unread), in: process, on: index)
    }

    // MARK: People

    private mutating func changeBlocking(in process: ProcessID, on index: Int) {
        let blocked = self.phones[index].disk.store.rows.settings.blocked
        if let first = blocked.first, self.chance.chance(perMille: 700) {
            return self.sendRequest(.setBlocked(first, false), in: process, on: index)
        }
        self.sendRequest(.setBlocked(self.anybody(but: index), true), in: process, on: index)
    }

    private mutating func changeMembers(in process: ProcessID, on index: Int) {
        guard let conversation = self.drawn(self.groups) else { return }
        let person = self.phones[index].person
        let members = self.phones[index].disk.store.rows.members(of: conversation)
        let action: ConversationAction
        switch self.chance.number(0...5) {
        case 0: action = .leave
        case 1 where self.groups.count < 5: return self.makeGroup(in: process, on: index)
        case 2: action = .remove([self.anybody(but: index)])
        case 3: action = .setNickname(person, "\(person) at \(self.time)")
        case _ where !members.contains { $0.id == person } && conversation.type == .discussion: action = .join
        default: action = .add([self.anybody(but: index)])
        }
        self.sendRequest(.change(conversation, action), in: process, on: index)
    }

    private mutating func changeWriting(in process: ProcessID, on index: Int) {
        guard let conversation = self.drawn(self.groups) else { return }
        let info = self.phones[index].disk.store.rows.infos[conversation]
        let action = self.writingChange(of: self.anybody(but: index), closed: info?.onlyAdminsWrite == true)
        self.sendRequest(.change(conversation, action), in: process, on: index)
    }

    /// A conversation that is closed to most does not stay it for long.
    mutating func writingChange(of person: UserID, closed: Bool) -> ConversationAction {
        switch self.chance.number(0...5) {
        case _ where closed: .setOnlyAdminsWrite(false)
        case 0: .setOnlyAdminsWrite(true)
        case 1: .unmute([person])
        default: .mute([person], until: Self.wallStart + self.time + self.chance.number(5_000...600_000))
        }
    }

    private mutating func answerInvitation(in process: ProcessID, on index: Int) {
        guard let invitation = self.drawn(self.phones[index].disk.store.invitations()) else { return }
        let action: ConversationAction = self.chance.chance(perMille: 600) ? .join : .decline
        self.sendRequest(.change(invitation.id, action), in: process, on: index)
    }

    private mutating func makeGroup(in process: ProcessID, on index: Int) {
        let group = ConversationID(type: .group, target: "g\(self.time)")
        let others = [self.anybody(but: index), self.anybody(but: index)]
        self.sendRequest(
            .change(group, .create(name: Self.name(of: group), portrait: nil, members: Set(others).sorted())),
            in: process,
            on: index)
    }

    mutating func sendRequest(_ request: ClientRequest, in process: ProcessID, on index: Int) {
        let number = self.phones[index].nextRequest
        self.phones[index].nextRequest += 1
        self.appendTrace("person on phone \(index) asks \(number): \(Self.word(for: request))", more: "\(request)")
        self.emit(.asked(number, request, by: self.phones[index].key))
        self.handle(.requestSubmitted(number, request), in: process, on: index)
    }
}
