import ClientCore
import TidingsClient
import TidingsKit
import TidingsModel
import UIKit

// What the client tells: the log, who types, who has read, chat rooms.
extension ConversationViewController {
    /// The time after a sign of typing that a person counts as typing, and that between this person's signs, in milliseconds.
    private static let typingMilliseconds: (heard: Int64, said: Int64) = (6_000, 3_000)
    /// The number of own messages whose receipts are asked for at once.
    private static let receiptsMax = 8
    /// How many messages of a room stay; the server has the others.
    private static let roomMessagesMax = (atBottom: 500, above: 2_000)

    func follow() {
        let client = self.client
        self.followers.follow(client.logEntries) { [weak self] in self?.applyEntry($0) }
        self.followers.follow(client.typingChanges) { [weak self] in self?.showTyping($0) }
        self.followers.follow(client.receiptChanges) { [weak self] in self?.markReceipt($0) }
        self.followers.follow(client.connectionStatuses) { [weak self] in self?.showStatus($0) }
        self.followers.follow(client.runStates) { [weak self] state in
            if state == .foreground { self?.markSeen() } else { self?.keepDraft() }
        }
        self.followers.follow(self.interface.names.whenForgotten()) { [weak self] in self?.learnNamesAgain() }
        self.followers.follow(client.streamGaps) { [weak self] stream in
            guard let self else { return }
            if stream == .logEntries { self.readAgain() }
            if stream == .roomMessages, self.isRoom {
                // Nobody tells which are missing.
                self.log = ChatLog()
                self.beginListening()
            }
        }
        if self.isRoom {
            self.followers.follow(client.roomMessages(self.conversation)) { [weak self] in self?.takeFromRoom([$0]) }
        }
    }

    private func applyEntry(_ entry: LogEntry) {
        self.checkPerson()
        guard self.isOpen, let owner = self.owner else { return }
        switch entry.body {
        case .message(let message):
            guard message.conversation(seenBy: owner) == self.conversation else { return }
            self.typing[message.sender] = nil
            self.showTyping()
            // Not the newest of the store alone: the log comes in pages, and a page is there before the first of it is told.
            if let stored = (try? self.client.storedMessage(message.id)) ?? nil { self.log.merge([stored]) }
            self.render()
            if message.sender != owner { self.receiptsAreStale = true }
        case .recall(let recall):
            self.recallers[recall.message] = recall.sender
            self.readAgain(recall.message) { $0.recall() }
        case .edit(let edit): self.readAgain(edit.message) { $0.edit(edit.content) }
        case .deletion(let deletion):
            guard deletion.conversation == self.conversation else { return }
            self.log.remove(deletion.messages)
            self.render()
        case .change(let change):
            guard change.conversation == self.conversation else { return }
            self.learnInfo()
            self.learnTitle()
            self.render()
        case .conversationSettings(let conversation, _):
            if conversation == self.conversation { self.showDraft() }
        case .read, .custom, .personSettings, .blocked, .unknown: break
        }
    }

    /// One message has become another: one that the server alone has is changed on the screen.
    func readAgain(_ message: MessageID, change: (inout StoredMessage) -> Void) {
        guard var shown = self.log[message] else { return }
        if let stored = (try? self.client.storedMessage(message)) ?? nil { shown = stored } else { change(&shown) }
        self.log.merge([shown])
        self.render()
    }

    private func showStatus(_ status: ConnectionStatus) {
        self.checkPerson()
        guard self.isOpen else { return }
        if status != .connected { self.receiptsAsked = [] }
        guard status == .connected else { return self.render() }
        self.learnNamesAgain()
        if self.isOnScreen {
            self.beginListening()
            self.loadIfShort()
        }
    }

    // MARK: While it is on the screen

    func beginListening() {
        guard self.isOpen, self.isOnScreen, self.client.connectionStatus == .connected else { return }
        if self.isRoom { return self.enterRoom() }
        guard self.interface.configuration.showsReadMarks else { return }
        if self.conversation.type == .direct {
            let (client, other) = (self.client, UserID(self.conversation.target))
            Task { [weak self] in
                _ = try? await client.watch([other])
                await self?.learnReceipts()
            }
        } else {
            self.learnReceiptsInGroup(
                of: self.ownMessages.filter { self.sees(.message($0)) && !self.receiptsAsked.contains($0) })
        }
    }

    func endListening() {
        self.receiptsAsked = []
        guard self.isOpen else { return }
        let (client, conversation, isRoom) = (self.client, self.conversation, self.isRoom)
        let watches = conversation.type == .direct && self.interface.configuration.showsReadMarks
        Task {
            if isRoom { try? await client.exitRoom(conversation) }
            if watches { try? await client.unwatch([UserID(conversation.target)]) }
        }
    }

    private func enterRoom() {
        let (client, room) = (self.client, self.conversation)
        let count = min(max(0, self.interface.configuration.roomHistory), 100)
        Task { [weak self] in
            do {
                let messages = try await client.enterRoom(room, history: count)
                guard let self else { return }
                // Between these and what was shown may be more.
                if let last = self.log.newest?.id, let first = messages.first?.id, last < first { self.log = ChatLog() }
                self.takeFromRoom(messages)
            } catch {
                self?.showError(error)
            }
        }
    }

    private func takeFromRoom(_ messages: [Message]) {
        guard self.isOpen, let owner = self.owner else { return }
        for message in messages { self.typing[message.sender] = nil }
        self.log.merge(fromServer: messages, seenBy: owner)
        self.log.trim(to: self.isAtBottom ? Self.roomMessagesMax.atBottom : Self.roomMessagesMax.above)
        self.showTyping()
        self.render()
    }

    // MARK: Delivered and read

    private func markReceipt(_ change: ChatClient.ReceiptChange) {
        guard self.isOpen, change.conversation == self.conversation else { return }
        self.marks.record(change.kind, upTo: change.upTo)
        self.render()
    }

    /// From the newest own message backwards, until one was read: those before it were, too.
    private func learnReceipts() async {
        for message in self.ownMessages.suffix(Self.receiptsMax).reversed() where self.marks.state(of: message) != .read
        {
            guard let receipts = try? await self.client.receipts(of: message), self.isOpen else { return }
            self.marks.record(receipts)
            self.render()
            if !receipts.read.isEmpty { return }
        }
    }

    var ownMessages: [MessageID] {
        self.log.messages.filter { $0.message.sender == self.owner && !$0.isRecalled }.map(\.id)
    }

    /// Asks for the receipts of own messages in groups, which nobody tells of: of each message when it is seen first, of the newest again
    /// when another person has written.
    func learnReceiptsInGroup(of messages: [MessageID]) {
        let isGroup = self.conversation.type == .group || self.conversation.type == .discussion
        guard isGroup, self.interface.configuration.showsReadMarks, self.isOnScreen else { return }
        self.receiptsAsked.formUnion(messages)
        Task { [weak self, client] in
            for message in messages {
                guard let receipts = try? await client.receipts(of: message), let self, self.isOpen else { return }
                self.marks.receipts[message] = receipts
                self.render()
            }
        }
    }

    // MARK: Typing

    private func showTyping(_ change: ChatClient.TypingChange) {
        guard self.isOpen, self.interface.configuration.showsTyping, change.conversation == self.conversation,
            change.user != self.owner
        else { return }
        let clock = self.client.clock
        let end = clock.now.monotonic + Self.typingMilliseconds.heard
        self.typing[change.user] = change.isTyping ? end : nil
        self.learnNames(of: [change.user])
        self.showTyping()
        guard change.isTyping else { return }
        Task { [weak self] in
            await clock.sleep(untilMonotonic: end)
            guard let self, self.typing[change.user] == end else { return }
            self.typing[change.user] = nil
            self.showTyping()
        }
    }

    /// In the place of the title, so that nothing moves.
    func showTyping() {
        let names = self.typing.keys.sorted().map { self.name(of: $0) }
        switch names.count {
        case 0: self.navigationItem.title = self.title
        case 1: self.navigationItem.title = self.words.typing.filled([("name", names[0])])
        default: self.navigationItem.title = self.words.severalTyping.filled([("count", "\(names.count)")])
        }
    }

    /// Said again every few seconds, as long as something is typed.
    func sayTyping(_ isTyping: Bool) {
        guard self.isOpen, self.interface.configuration.showsTyping, self.edited == nil else { return }
        let now = self.client.clock.now.monotonic
        if isTyping {
            if let said = self.typingSaidAt, now - said < Self.typingMilliseconds.said { return }
            self.typingSaidAt = now
        } else {
            guard self.typingSaidAt != nil else { return }
            self.typingSaidAt = nil
        }
        self.client.setTyping(isTyping, in: self.conversation)
    }
}
