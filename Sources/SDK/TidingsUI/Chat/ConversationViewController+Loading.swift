import ClientCore
import Foundation
import TidingsClient
import TidingsKit
public import TidingsModel
import UIKit

// Whose messages are shown, and which.
extension ConversationViewController {
    private var pageSize: Int { min(max(1, self.interface.configuration.pageSize), 100) }

    /// A screen is its first person's: nobody else sees anything on it.
    func checkPerson() {
        let person = self.client.userID
        if self.owner == nil { self.owner = person }
        let isOwners = person != nil && person == self.owner
        guard isOwners != self.isOpen else { return }
        self.isOpen = isOwners
        if isOwners { self.open() } else { self.empty() }
    }

    private func empty() {
        self.log = ChatLog()
        self.marks = ReceiptMarks()
        self.receiptsAsked = []
        self.recallers = [:]
        self.asked = []
        self.info = nil
        self.firstUnread = nil
        self.lastSeen = nil
        self.typing = [:]
        self.leaveContext()
        self.keptDraft = ""
        self.inputBar.text = ""
        self.inputBar.candidates = []
        self.showLoading(false)
        _ = self.interface.openScreens.remove(self, of: self.conversation)
        if self.client.activeConversation == self.conversation { self.client.activeConversation = nil }
        if self.presentedViewController is ImageViewController { self.dismiss(animated: false) }
        self.title = ""
        self.navigationItem.title = nil
        self.renderNow()
    }

    private func open() {
        self.wasPlaced = false
        self.unreadAtOpening = (try? self.client.unreadCount(of: self.conversation)) ?? 0
        if !self.isRoom {
            // All that is unread, so that its beginning is known.
            let count = max(self.pageSize, min(self.unreadAtOpening + 1, 1_000))
            self.readHere(before: nil, count)
            self.firstUnread = self.unreadAtOpening > 0 ? self.log.firstUnread : nil
        }
        self.lastSeen = self.log.newest?.id
        self.title = self.givenTitle ?? self.interface.knownTitle(of: self.conversation) ?? self.conversation.target
        self.showTyping()
        self.showDraft()
        self.learnInfo()
        self.learnTitle()
        self.renderNow()
        if self.isOnScreen { self.didComeOnScreen() }
    }

    /// The owner sees the screen.
    func didComeOnScreen() {
        guard self.isOpen else { return }
        self.interface.openScreens.add(self, of: self.conversation)
        self.client.activeConversation = self.conversation
        self.showNewest()
        self.markSeen()
        self.beginListening()
        self.loadIfShort()
    }

    @discardableResult
    private func readHere(before: LogPosition?, _ count: Int) -> Int {
        let found =
            (try? self.client.history(conversation: self.conversation, before: before, limit: count)) ?? []
        self.log.merge(found)
        self.log.hasEarlierHere = found.count >= count
        return found.count
    }

    /// Everything that is shown, after a gap, as far back as it was.
    func readAgain() {
        guard self.isOpen, !self.isRoom else { return }
        let oldest = self.log.oldest?.id
        self.log = ChatLog()
        while self.readHere(before: self.log.oldestPosition, self.pageSize) > 0, self.log.messages.count < 1_000,
            let oldest, let first = self.log.oldest?.id, first > oldest
        {}
        self.render()
    }

    /// A new device has few messages in its store.
    func loadIfShort() {
        guard self.isOpen, self.log.messages.count < self.pageSize else { return }
        self.loadEarlier()
    }

    /// Earlier messages: of this device, then of the server.
    func loadEarlier() {
        guard self.isOpen, !self.isLoading else { return }
        if self.log.hasEarlierHere, !self.isRoom {
            if self.readHere(before: self.log.oldestPosition, self.pageSize) > 0 { return self.renderAbove() }
        }
        guard self.log.hasEarlierOnServer, self.client.connectionStatus == .connected else { return }
        self.showLoading(true)
        let (client, conversation, size) = (self.client, self.conversation, self.pageSize)
        let oldest = self.log.oldest?.id
        Task { [weak self] in
            let page = try? await client.serverHistory(conversation: conversation, before: oldest, limit: size)
            guard let self, self.isOpen, let owner = self.owner else { return }
            self.showLoading(false)
            // What is shown may have been read anew meanwhile.
            guard let page, self.log.oldest?.id == oldest else { return }
            self.log.merge(fromServer: page.messages, seenBy: owner)
            self.log.hasEarlierOnServer = page.hasMore
            self.renderAbove()
        }
    }

    // MARK: Members

    func learnInfo() {
        guard !self.conversation.type.targetIsPeer, self.isOpen else { return }
        self.setInfo((try? self.client.storedConversationInfo(self.conversation)) ?? nil)
        guard self.client.connectionStatus == .connected else { return }
        let (client, conversation) = (self.client, self.conversation)
        Task { [weak self] in
            guard let info = try? await client.conversationInfo(conversation), let self, self.isOpen else { return }
            self.setInfo(info)
            self.render()
        }
    }

    func setInfo(_ info: ConversationInfo?) {
        guard let info else { return }
        self.info = info
        self.interface.names.record(info)
        // Those whose messages are shown first.
        self.learnNames(of: self.writers + info.members.prefix(200).map(\.id))
        self.showCandidates()
    }

    func showCandidates() {
        guard self.conversation.type == .group || self.conversation.type == .discussion, let info = self.info else {
            return
        }
        let others = info.members.filter { $0.id != self.owner }
        self.inputBar.candidates =
            [MentionCompletion.Candidate(user: nil, name: self.words.everyone)]
            + others.map { MentionCompletion.Candidate(user: $0.id, name: self.name(of: $0.id)) }
    }

    /// Begins to mention a person in the input bar, as choosing them after an `@` does; for groups.
    public func mention(_ user: UserID) {
        self.inputBar.mention(MentionCompletion.Candidate(user: user, name: self.name(of: user)))
    }

    /// Returns the name of a person, as far as it is known now.
    func name(of user: UserID) -> String {
        self.interface.knownName(of: user, in: self.conversation) ?? user.rawValue
    }

    /// Who is named by the messages that are loaded, by the newest ones first.
    var writers: [UserID] {
        self.log.messages.reversed().flatMap { [$0.message.sender] + ($0.message.quote.map { [$0.sender] } ?? []) }
    }

    /// Asks for names and portraits once each, and shows them when they are there.
    func learnNames(of users: [UserID]) {
        let unknown = users.filter { self.asked.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        Task { [weak self, interface, conversation] in
            await interface.learn(unknown, in: conversation) {
                guard let self, self.isOpen else { return }
                self.namesAreStale = true
                self.showCandidates()
                self.showTyping()
                self.render()
            }
        }
    }

    /// They may be called otherwise by now.
    func learnNamesAgain() {
        self.asked = []
        self.learnInfo()
        self.learnTitle()
        self.render()
    }

    // MARK: Drafts

    func showDraft() {
        guard self.isOpen, !self.isRoom, self.edited == nil, self.inputBar.text == self.keptDraft else { return }
        self.keptDraft = self.interface.drafts.text(in: self.conversation)
        self.inputBar.text = self.keptDraft
    }

    /// A text that is changed, not written, is no draft.
    func keepDraft() {
        guard self.isOpen, !self.isRoom, self.edited == nil, self.inputBar.text != self.keptDraft else { return }
        self.keptDraft = self.inputBar.text
        self.interface.drafts.save(self.keptDraft, in: self.conversation)
    }
}
