import ClientCore
public import Foundation
public import TidingsClient
import TidingsKit
public import TidingsModel
public import UIKit

/// The list of conversations, as it is on this device and as it changes: the pinned ones first, then by the newest message. A tap opens one.
///
/// ```swift
/// let chats = UINavigationController(rootViewController: ConversationListViewController())
/// ```
///
/// Invitations stand above the conversations, and above them what is to be said of the connection. A swipe pins, mutes, reads and
/// hides; a long press offers the same. The tab that the list, or its navigation controller, is in shows how many messages are unread.
///
/// A subclass may override `didSelect`, `screen(for:)`, `willShow(_:)`, `cellClass`, `configure(_:for:)`, `perform(_:on:)` and
/// `unreadCountDidChange`, and set `emptyView`. `InterfaceConfiguration.conversationTypes` says which kinds are listed.
@MainActor open class ConversationListViewController: UIViewController, UITableViewDelegate {
    /// Rows that are made at once; more when the last of them comes into view.
    static let rowsAtOnce = 100

    /// The state that the app's screens share.
    public let interface: ChatInterface
    /// The table.
    public let tableView = UITableView(frame: .zero, style: .plain)
    /// The conversations as they are listed.
    public private(set) var items: [ConversationSummary] = []
    /// The invitations that this person has not answered.
    public private(set) var invitations: [Invitation] = []
    /// The cells of conversations: `ConversationCell` or a subclass.
    open var cellClass: ConversationCell.Type { ConversationCell.self }
    /// The view in place of an empty list; by default a sentence.
    open lazy var emptyView: UIView = UILabel()

    enum Item: Hashable, Sendable {
        case notice
        case entry(ConversationID)
    }
    enum Entry {
        case conversation(ConversationSummary)
        case invitation(Invitation)
    }
    private struct NameQuestion: Hashable {
        var conversation: ConversationID
        var person: UserID?
    }

    private lazy var source = ListSource(tableView: self.tableView) {
        [weak self] table, path, item in self?.cell(for: item, at: path, in: table)
    }
    private let followers = StreamFollowers()
    private var refreshing: Task<Void, Never>?
    private var isStale = false
    private var notice: String?
    private var unread: Int?
    private var limit = ConversationListViewController.rowsAtOnce
    private var entries: [ConversationID: Entry] = [:]
    private var rows: [ConversationID: ConversationRow] = [:]
    private var asked: Set<NameQuestion> = []
    private lazy var texts = RowTexts(self.interface)

    /// A list of an interface's conversations.
    ///
    /// - Parameter interface: nil takes `ChatInterface.shared`.
    public init(interface: ChatInterface? = nil) {
        self.interface = ChatInterface.required(interface)
        super.init(nibName: nil, bundle: nil)
        self.title = self.words.conversations
        // The tab shows what is unread before the list is looked at.
        self.followers.follow(self.client.logEntries) { [weak self] _ in self?.setNeedsRefresh() }
        self.followers.follow(self.client.problems) { [weak self] _ in self?.setNeedsRefresh() }
        self.followers.follow(self.client.streamGaps) { [weak self] _ in self?.setNeedsRefresh() }
        // Days pass while the app is away.
        self.followers.follow(self.client.runStates) { [weak self] _ in self?.setNeedsRefresh() }
        self.followers.follow(self.client.connectionStatuses) { [weak self] in self?.showStatus($0) }
        self.followers.follow(self.interface.names.whenForgotten()) { [weak self] in self?.learnNamesAgain() }
    }

    /// From a storyboard: always nil.
    public required init?(coder: NSCoder) { return nil }

    var words: ListWords { self.interface.words.lists }
    var client: ChatClient { self.interface.client }

    // MARK: What an app may change

    /// A conversation was chosen: its screen is pushed.
    open func didSelect(_ item: ConversationSummary) { self.open(self.screen(for: item.conversation)) }

    /// The screen of a conversation: what the interface makes.
    open func screen(for conversation: ConversationID) -> UIViewController {
        self.interface.screen(for: .conversation(conversation))
    }

    /// The conversations are about to be shown, in this order: what is left out is not shown.
    open func willShow(_ items: [ConversationSummary]) -> [ConversationSummary] { items }

    /// A cell is about to show a conversation or an invitation.
    open func configure(_ cell: ConversationCell, for row: ConversationRow) {
        cell.configure(
            row, portrait: self.interface.knownPortrait(of: row.id),
            showsPortrait: self.interface.configuration.showsPortraits, words: self.interface.words)
    }

    /// The number of unread messages has changed; muted conversations do not count. The tab shows it, also before the list is seen.
    open func unreadCountDidChange(_ count: Int) {
        (self.navigationController ?? self).tabBarItem.badgeValue = ConversationRow.badge(count)
    }

    /// Does what a person asks for by a swipe or the menu.
    open func perform(_ action: ConversationListAction, on item: ConversationSummary) {
        do {
            switch action {
            case .markRead: try self.client.markRead(item.id)
            case .pin: try self.client.setPinned(true, for: item.id)
            case .unpin: try self.client.setPinned(false, for: item.id)
            case .mute: try self.client.setNotificationLevel(.blocked, for: item.id)
            case .unmute:
                let level = try self.client.settings().person.levelThatRings(for: item.id.type)
                try self.client.setNotificationLevel(level, for: item.id)
            case .hide: try self.client.setHidden(true, for: item.id)
            }
        } catch {
            self.show(error, words: self.interface.words)
        }
        self.setNeedsRefresh()
    }

    // MARK: The screen

    open override func loadView() { self.view = self.tableView }

    open override func viewDidLoad() {
        super.viewDidLoad()
        self.tableView.register(self.cellClass, forCellReuseIdentifier: "conversation")
        self.tableView.register(UITableViewCell.self, forCellReuseIdentifier: "notice")
        self.tableView.rowHeight = UITableView.automaticDimension
        self.tableView.accessibilityIdentifier = "tidings.conversations"
        self.tableView.delegate = self
        self.tableView.dataSource = self.source
    }

    open override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        // What other screens have changed, drafts among it, and what people are called by now.
        self.unread = nil
        self.learnNamesAgain()
    }

    private func learnNamesAgain() {
        self.asked = []
        self.setNeedsRefresh()
    }

    private func showStatus(_ status: ConnectionStatus) {
        let text = ConnectionNotice.text(for: status, in: self.words)
        if self.isViewLoaded, text != self.notice, let text {
            UIAccessibility.post(notification: .announcement, argument: text)
        }
        self.notice = text
        self.setNeedsRefresh()
    }

    /// Pushes a screen.
    func open(_ screen: UIViewController) {
        screen.hidesBottomBarWhenPushed = true
        self.navigationController?.pushViewController(screen, animated: true)
    }

    // MARK: Reading

    /// Reads the list anew, soon and once for all that has changed until then.
    public func setNeedsRefresh() {
        self.isStale = true
        guard self.refreshing == nil else { return }
        self.refreshing = Task { [weak self] in
            while let self, self.isStale {
                self.isStale = false
                self.show(await ListContent.read(self.client))
            }
            self?.refreshing = nil
        }
    }

    private func show(_ content: ListContent) {
        if self.unread != content.unread {
            self.unread = content.unread
            self.unreadCountDidChange(content.unread)
        }
        guard self.isViewLoaded else { return }
        let types = self.interface.configuration.conversationTypes
        self.items = self.willShow(content.items.filter { types.contains($0.id.type) })
        // Who is in by now has no invitation to answer.
        let known = Set(content.items.map(\.id))
        self.invitations = content.invitations.filter { types.contains($0.id.type) && !known.contains($0.id) }
        self.showRows()
        let label = self.emptyView as? UILabel
        label?.text = content.isReadable ? self.words.noConversations : self.words.listUnreadable
        Self.style(label, .body)
        self.tableView.backgroundView = self.entries.isEmpty ? self.emptyView : nil
    }

    /// Shows the rows. Only conversations that may come into view have one.
    private func showRows() {
        let before = self.rows
        let shown = self.items.prefix(self.limit)
        self.entries = [:]
        for item in shown { self.entries[item.id] = .conversation(item) }
        for invitation in self.invitations { self.entries[invitation.id] = .invitation(invitation) }
        self.rows = self.entries.mapValues { self.row(of: $0) }
        var snapshot = NSDiffableDataSourceSnapshot<Int, Item>()
        snapshot.appendSections([0])
        if self.notice != nil { snapshot.appendItems([.notice]) }
        snapshot.appendItems((self.invitations.map(\.id) + shown.map(\.id)).map { .entry($0) })
        let known = Set(self.source.snapshot().itemIdentifiers)
        let changed = snapshot.itemIdentifiers.filter { item in
            guard case .entry(let id) = item else { return true }
            return self.rows[id] != before[id]
        }
        snapshot.reconfigureItems(changed.filter(known.contains))
        self.source.apply(snapshot, animatingDifferences: self.view.window != nil && !known.isEmpty)
        for path in self.tableView.indexPathsForVisibleRows ?? [] { self.learnNames(at: path) }
    }

    private func row(of entry: Entry) -> ConversationRow {
        let now = self.client.clock.now.wall
        let question = self.question(of: entry)
        let name = question.person.map { person in
            self.interface.knownName(of: person, in: question.conversation) ?? person.rawValue
        }
        switch entry {
        case .conversation(let item):
            let title = self.interface.knownTitle(of: item.id) ?? item.name ?? item.id.target
            return ConversationRow(item, title: title, sender: name, texts: self.texts, now: now)
        case .invitation(let invitation):
            return ConversationRow(invitation, inviter: name ?? "", texts: self.texts, now: now)
        }
    }

    /// Who is named in a row: among several people the sender, unless that is this person; and who invites.
    private func question(of entry: Entry) -> NameQuestion {
        switch entry {
        case .conversation(let item):
            let sender = item.last.message.sender
            let isNamed = item.id.type.isGroup && sender != self.client.userID && !item.last.isRecalled
            return NameQuestion(conversation: item.id, person: isNamed ? sender : nil)
        case .invitation(let invitation): return NameQuestion(conversation: invitation.id, person: invitation.by)
        }
    }

    // MARK: Rows

    private func cell(for item: Item, at path: IndexPath, in table: UITableView) -> UITableViewCell? {
        switch item {
        case .notice:
            let cell = table.dequeueReusableCell(withIdentifier: "notice", for: path)
            cell.selectionStyle = .none
            cell.textLabel?.text = self.notice
            Self.style(cell.textLabel, .footnote)
            return cell
        case .entry(let id):
            let cell = table.dequeueReusableCell(withIdentifier: "conversation", for: path)
            if let cell = cell as? ConversationCell, let row = self.rows[id] { self.configure(cell, for: row) }
            return cell
        }
    }

    private static func style(_ label: UILabel?, _ style: UIFont.TextStyle) {
        label?.font = .preferredFont(forTextStyle: style)
        label?.adjustsFontForContentSizeCategory = true
        label?.textColor = .secondaryLabel
        label?.textAlignment = .center
        label?.numberOfLines = 0
    }

    private func entry(at indexPath: IndexPath) -> Entry? {
        guard case .entry(let id)? = self.source.itemIdentifier(for: indexPath) else { return nil }
        return self.entries[id]
    }

    func item(at indexPath: IndexPath) -> ConversationSummary? {
        guard case .conversation(let item)? = self.entry(at: indexPath) else { return nil }
        return item
    }

    /// A row comes into view: what it lacks is asked for.
    open func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath) {
        self.learnNames(at: indexPath)
        // A table must not change while it displays.
        if indexPath.row + 1 >= self.limit, self.items.count > self.limit { Task { self.showMore() } }
    }

    private func showMore() {
        self.limit += Self.rowsAtOnce
        self.showRows()
    }

    /// Asks once for what a visible row lacks.
    private func learnNames(at indexPath: IndexPath) {
        guard let question = self.entry(at: indexPath).map({ self.question(of: $0) }),
            self.asked.insert(question).inserted
        else { return }
        let id = question.conversation
        Task { [weak self, interface = self.interface] in
            if let person = question.person { _ = await interface.name(of: person, in: id) }
            _ = await interface.portrait(of: id)
            guard let self, let entry = self.entries[id] else { return }
            self.rows[id] = self.row(of: entry)
            var snapshot = self.source.snapshot()
            guard snapshot.indexOfItem(.entry(id)) != nil else { return }
            snapshot.reconfigureItems([.entry(id)])
            self.source.apply(snapshot, animatingDifferences: false)
        }
    }

    // MARK: What a person does

    /// A row was tapped.
    open func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        tableView.deselectRow(at: indexPath, animated: true)
        switch self.entry(at: indexPath) {
        case .conversation(let item)?: self.didSelect(item)
        case .invitation(let invitation)?: self.showQuestion(about: invitation)
        case nil: break
        }
    }

    /// Returns the actions of a swipe from the leading edge.
    open func tableView(
        _ tableView: UITableView, leadingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? {
        self.item(at: indexPath).map { self.swipe(ConversationListAction.leading(for: $0), on: $0) }
    }

    /// Returns the actions of a swipe from the trailing edge.
    open func tableView(
        _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? {
        // Nil would be Apple's "Delete".
        self.item(at: indexPath).map { self.swipe(ConversationListAction.trailing(for: $0), on: $0) }
            ?? UISwipeActionsConfiguration(actions: [])
    }

    /// Returns the menu of a long press.
    open func tableView(
        _ tableView: UITableView, contextMenuConfigurationForRowAt indexPath: IndexPath, point: CGPoint
    ) -> UIContextMenuConfiguration? { self.item(at: indexPath).flatMap { self.menu(for: $0) } }
}

@MainActor private final class ListSource: UITableViewDiffableDataSource<Int, ConversationListViewController.Item> {
    /// A diffable source lets nothing be swiped otherwise.
    override func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool { true }
}
