import ClientCore
import Foundation
import TidingsClient
import TidingsKit
import TidingsModel
public import UIKit

// What the table shows, and where it is scrolled to.
extension ConversationViewController {
    typealias Source = UITableViewDiffableDataSource<Int, ChatRow.ID>

    func registerCells() {
        self.tableView.register(NoticeCell.self, forCellReuseIdentifier: "notice")
        self.tableView.register(TextMessageCell.self, forCellReuseIdentifier: "text")
        self.tableView.register(ImageMessageCell.self, forCellReuseIdentifier: "image")
        for (name, cell) in self.interface.configuration.messageCells {
            self.tableView.register(cell, forCellReuseIdentifier: "custom.\(name)")
        }
    }

    func makeDataSource() -> Source {
        let source = Source(tableView: self.tableView) { [weak self] tableView, indexPath, id in
            self?.cell(for: id, in: tableView, at: indexPath) ?? UITableViewCell()
        }
        source.defaultRowAnimation = .fade
        return source
    }

    private func cell(for id: ChatRow.ID, in tableView: UITableView, at indexPath: IndexPath) -> UITableViewCell? {
        guard let row = self.rows[id] else { return nil }
        switch row {
        case .message(let row):
            let name = row.objectName.rawValue
            let isCustom = self.interface.configuration.messageCells[name] != nil
            var kind = isCustom ? "custom.\(name)" : "text"
            if !isCustom, case .image = row.content { kind = "image" }
            let cell = tableView.dequeueReusableCell(withIdentifier: kind, for: indexPath)
            (cell as? MessageCell)?.show(row, in: self)
            return cell
        case .day(let start, let text): return self.notice(text, "day.\(start)", isHeader: true, indexPath)
        case .unread(let text): return self.notice(text, "unread", isHeader: true, indexPath)
        case .notice(let notice):
            let button = notice.recalledText.map { text in
                (self.words.editAgain, { [weak self] in self?.typeAgain(text) ?? () })
            }
            return self.notice(notice.text, "notice.\(notice.message)", isHeader: false, indexPath, button: button)
        }
    }

    private func notice(
        _ text: String, _ identifier: String, isHeader: Bool, _ indexPath: IndexPath,
        button: (title: String, act: () -> Void)? = nil
    ) -> UITableViewCell {
        let cell = self.tableView.dequeueReusableCell(withIdentifier: "notice", for: indexPath)
        (cell as? NoticeCell)?.show(text, isHeader: isHeader, identifier: identifier, button: button)
        return cell
    }

    // MARK: Showing what has changed

    /// Soon: what comes at once is shown at once.
    func render() {
        guard !self.rowsAreStale else { return }
        self.rowsAreStale = true
        Task { [weak self] in if self?.rowsAreStale == true { self?.renderNow() } }
    }

    func renderNow() {
        self.show { wasAtBottom in if wasAtBottom { self.scrollToBottom(animated: false) } }
    }

    /// Earlier messages have come: what is seen stays where it is.
    func renderAbove() {
        let below = self.tableView.contentSize.height - self.tableView.contentOffset.y
        self.show { wasAtBottom in
            self.tableView.layoutIfNeeded()
            if wasAtBottom { return self.scrollToBottom(animated: false) }
            let offset = self.tableView.contentSize.height - below
            self.tableView.contentOffset = CGPoint(x: 0, y: max(0, offset))
        }
    }

    private func show(_ scroll: (_ wasAtBottom: Bool) -> Void) {
        self.rowsAreStale = false
        if self.receiptsAreStale { self.learnReceiptsInGroup(of: self.ownMessages.suffix(2)) }
        self.receiptsAreStale = false
        let wasAtBottom = self.isAtBottom
        self.isApplying = true
        self.apply()
        scroll(wasAtBottom)
        self.isApplying = false
        self.wasAtBottom = self.isAtBottom
        self.markSeen()
        self.showButtons()
    }

    private func apply() {
        guard self.isViewLoaded else { return }
        let made = self.makeRows()
        let before = self.rows
        self.rows = [:]
        for row in made { self.rows[row.id] = row }
        var snapshot = NSDiffableDataSourceSnapshot<Int, ChatRow.ID>()
        snapshot.appendSections([0])
        snapshot.appendItems(made.map(\.id))
        let changed = made.filter { row in before[row.id].map { $0 != row || self.namesAreStale } ?? false }
        // Another kind of row needs another cell.
        let (reloaded, kept) = changed.reduce(into: ([ChatRow.ID](), [ChatRow.ID]())) { parts, row in
            if let old = before[row.id], Self.isSameKind(old, row) {
                parts.1.append(row.id)
            } else {
                parts.0.append(row.id)
            }
        }
        snapshot.reloadItems(reloaded)
        snapshot.reconfigureItems(kept)
        self.namesAreStale = false
        self.dataSource.apply(snapshot, animatingDifferences: false)
        self.showEmpty()
        self.inputBar.show(notice: self.writeNotice)
    }

    private static func isSameKind(_ one: ChatRow, _ other: ChatRow) -> Bool {
        switch (one, other) {
        case (.message(let one), .message(let other)):
            if case .image = one.content, case .image = other.content { return true }
            return one.objectName == other.objectName
        case (.message, _), (_, .message): return false
        case (.day, _), (.unread, _), (.notice, _): return true
        }
    }

    private func makeRows() -> [ChatRow] {
        guard self.isOpen, let owner = self.owner else { return [] }
        self.learnNames(of: self.writers + [owner])
        let language = self.interface.words.language
        let rows = ChatRows(
            conversation: self.conversation, person: owner, messages: self.log.messages,
            outgoing: self.interface.outgoing.messages(in: self.conversation), firstUnread: self.firstUnread,
            marks: self.marks, showsMarks: self.interface.configuration.showsReadMarks,
            isConnected: self.client.connectionStatus == .connected, recallers: self.recallers,
            recalledTexts: self.interface.recalledTexts, words: self.words,
            kinds: self.client.configuration.words.words(for: language).words, times: self.interface.times,
            now: self.now, name: { [weak self] in self?.name(of: $0) ?? $0.rawValue })
        return self.willShow(rows.rows())
    }

    // MARK: Where it is scrolled to

    /// True while the newest message is seen.
    public var isAtBottom: Bool {
        let count = self.rows.count
        guard count > 0, let last = self.tableView.indexPathsForVisibleRows?.last else { return true }
        return last.row >= count - 1
    }

    /// Goes to the newest message.
    public func scrollToBottom(animated: Bool) {
        guard !self.rows.isEmpty else { return }
        self.tableView.scrollToRow(
            at: IndexPath(row: self.rows.count - 1, section: 0), at: .bottom, animated: animated)
    }

    /// Goes to a message that is loaded. Returns whether it is.
    @discardableResult
    public func scroll(to message: MessageID, animated: Bool) -> Bool {
        guard let indexPath = self.dataSource.indexPath(for: .message(message)) else { return false }
        self.tableView.scrollToRow(at: indexPath, at: .middle, animated: animated)
        return true
    }

    /// To the newest message, when the screen appears first.
    func showNewest() {
        guard !self.wasPlaced, self.isOpen else { return }
        self.wasPlaced = true
        self.tableView.layoutIfNeeded()
        self.scrollToBottom(animated: false)
        self.wasAtBottom = true
        self.showButtons()
    }

    func jumpToFirstUnread() {
        if let indexPath = self.dataSource.indexPath(for: .unread) {
            self.tableView.scrollToRow(at: indexPath, at: .top, animated: true)
        }
        self.unreadAtOpening = 0
        self.showButtons()
    }

    func showButtons() {
        if self.wasPlaced, self.unreadAtOpening > 0, self.sees(.unread) { self.unreadAtOpening = 0 }
        let unread = self.unreadAtOpening
        self.unreadButton.isHidden = !self.wasPlaced || unread == 0 || self.firstUnread == nil
        self.unreadButton.setTitle("↑ " + self.words.unreadAbove.filled([("count", "\(unread)")]), for: .normal)
        let new = self.log.messages.reversed().prefix { $0.id > self.lastSeen ?? $0.id }
            .count { $0.message.sender != self.owner }
        self.newButton.isHidden = new == 0
        self.newButton.setTitle("↓ " + self.words.newBelow.filled([("count", "\(new)")]), for: .normal)
    }

    func sees(_ id: ChatRow.ID) -> Bool {
        guard let indexPath = self.dataSource.indexPath(for: id) else { return false }
        return self.tableView.indexPathsForVisibleRows?.contains(indexPath) ?? false
    }

    /// Marks the conversation read: a person who sees the newest message, with the app in the foreground, has read everything.
    func markSeen() {
        guard self.isOpen, self.isOnScreen, self.wasPlaced, self.client.runState == .foreground, self.isAtBottom else {
            return
        }
        self.lastSeen = self.log.newest?.id ?? self.lastSeen
        guard !self.isRoom, ((try? self.client.unreadCount(of: self.conversation)) ?? 0) > 0 else { return }
        try? self.client.markRead(self.conversation)
    }

    // MARK: What the table tells

    /// How near to the top earlier messages are loaded, in points.
    private static let nearTop: CGFloat = 120

    /// Marks messages read that come into view, and loads earlier ones near the top.
    public func scrollViewDidScroll(_ scrollView: UIScrollView) {
        // Where a keyboard has come, it is scrolled after the layout.
        guard self.wasPlaced, self.isOnScreen, !self.isApplying, self.tableView.bounds.height == self.tableHeight else {
            return
        }
        let isAtBottom = self.isAtBottom
        if isAtBottom != self.wasAtBottom {
            self.wasAtBottom = isAtBottom
            self.markSeen()
        }
        self.showButtons()
        guard scrollView.contentOffset.y < Self.nearTop else { return }
        // A table must not change while it scrolls.
        Task { [weak self] in
            if let self, self.tableView.contentOffset.y < Self.nearTop { self.loadEarlier() }
        }
    }

    /// Asks `willDisplay(_:_:)`.
    public func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath) {
        guard let cell = cell as? MessageCell, let row = cell.row else { return }
        self.willDisplay(cell, row)
        if self.isOnScreen, row.isOwn, let message = row.message, !self.receiptsAsked.contains(message.id) {
            self.learnReceiptsInGroup(of: [message.id])
        }
    }

    /// Asks `didTap(_:)`.
    public func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        tableView.deselectRow(at: indexPath, animated: true)
        if let row = self.message(at: indexPath) { self.didTap(row) }
    }

    /// Offers `actions(for:)`.
    public func tableView(
        _ tableView: UITableView, contextMenuConfigurationForRowAt indexPath: IndexPath, point: CGPoint
    ) -> UIContextMenuConfiguration? {
        guard let row = self.message(at: indexPath) else { return nil }
        let actions = self.actions(for: row)
        guard !actions.isEmpty else { return nil }
        let words = self.words
        return UIContextMenuConfiguration(identifier: nil, previewProvider: nil) { [weak self] _ in
            UIMenu(
                title: "",
                children: actions.map { action in
                    UIAction(
                        title: action.title(in: words), image: UIImage(systemName: action.symbol),
                        attributes: action == .delete ? .destructive : []
                    ) { _ in self?.perform(action, on: row) }
                })
        }
    }

    private func message(at indexPath: IndexPath) -> MessageRow? {
        guard let id = self.dataSource.itemIdentifier(for: indexPath), case .message(let row)? = self.rows[id] else {
            return nil
        }
        return row
    }
}
