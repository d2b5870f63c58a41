public import ClientCore
import Foundation
import TidingsClient
public import TidingsKit
public import TidingsModel
public import UIKit

/// The screen of a conversation: what was said, and where the person says something.
///
/// ```swift
/// let chat = ConversationViewController(type: .direct, target: "bob", title: "Bob")
/// navigationController?.pushViewController(chat, animated: true)
/// ```
///
/// It says to the client which conversation is on the screen, marks as read what the person sees, enters a chat room when it appears and
/// leaves it when it disappears, and keeps what is typed as the conversation's draft. It is a person's own: when they sign out, it is
/// emptied. What is sent from it goes on without it.
///
/// A subclass may override what it decides: `willSend(_:)`, `didSend(_:)`, `didFail(_:)`, `willShow(_:)`, `willDisplay(_:_:)`, `didTap(_:)`,
/// `openImage(_:)`, `actions(for:)`, `perform(_:on:)` and `openSettings()`.
open class ConversationViewController: UIViewController, RoutedScreen, UITableViewDelegate {
    /// The conversation.
    public let conversation: ConversationID
    /// The state that the app's screens share.
    public let interface: ChatInterface
    /// The messages.
    public let tableView = UITableView(frame: .zero, style: .plain)
    /// Where the person types.
    public let inputBar: InputBar
    /// The messages that are loaded, from the oldest to the newest.
    public var messages: [StoredMessage] { self.log.messages }

    // Of the extensions of this class.
    var log = ChatLog()
    var marks = ReceiptMarks()
    var receiptsAsked: Set<MessageID> = []
    var receiptsAreStale = false
    var recallers: [MessageID: UserID] = [:]
    /// Whose screen it is: nil before anybody has signed in.
    var owner: UserID?
    /// True if the owner is signed in, and their messages are loaded.
    var isOpen = false
    /// Between appearing and disappearing.
    var isOnScreen = false
    var rows: [ChatRow.ID: ChatRow] = [:]
    var rowsAreStale = false
    var namesAreStale = false
    var asked: Set<UserID> = []
    var info: ConversationInfo?
    var firstUnread: MessageID?
    var unreadAtOpening = 0
    /// The newest message the person has seen.
    var lastSeen: MessageID?
    var isLoading = false
    var wasPlaced = false
    /// True if the newest message was seen at the last scrolling or showing.
    var wasAtBottom = true
    var tableHeight: CGFloat = 0
    /// Between the snapshot and where it is scrolled to.
    var isApplying = false
    var typing: [UserID: Int64] = [:]
    var typingSaidAt: Int64?
    var answered: MessageQuote?
    var edited: MessageID?
    var keptDraft = ""
    var photoChoice: PhotoChoice?
    let followers = StreamFollowers()
    lazy var dataSource = self.makeDataSource()
    let unreadButton = UIButton(type: .system)
    let newButton = UIButton(type: .system)
    private let wheel = UIActivityIndicatorView(style: .medium)
    private let emptyLabel = MessageCell.label(.body, .secondaryLabel)
    let givenTitle: String?
    private var listener: UUID?

    /// The screen of a conversation.
    ///
    /// - Parameters:
    ///   - type: its kind.
    ///   - target: the other person's id, or the group's or room's.
    ///   - title: what it is called; nil for what the interface knows.
    ///   - interface: nil takes `ChatInterface.shared`.
    public init(type: ConversationType, target: String, title: String?, interface: ChatInterface? = nil) {
        let interface = ChatInterface.required(interface)
        self.interface = interface
        self.conversation = ConversationID(type: type, target: target)
        self.givenTitle = title
        self.inputBar = InputBar(words: interface.words.chat)
        super.init(nibName: nil, bundle: nil)
        self.title = title ?? interface.knownTitle(of: self.conversation) ?? target
    }

    /// From a storyboard: always nil.
    public required init?(coder: NSCoder) { return nil }

    deinit {
        let (interface, listener) = (self.interface, self.listener)
        Task { @MainActor in if let listener { interface.outgoing.stopListening(listener) } }
    }

    /// The route by which a router finds the screen.
    public var route: Route { Route(conversation: self.conversation) }

    var client: ChatClient { self.interface.client }
    var words: ChatWords { self.interface.words.chat }
    var isRoom: Bool { self.conversation.type == .chatRoom }
    var now: Int64 { self.client.wallMilliseconds }

    // MARK: For subclasses

    /// Asked before something is sent: what is sent instead, or nil for nothing; the text then stays in the field.
    open func willSend(_ content: MessageContent) -> MessageContent? { content }

    /// A message of this screen is on the server.
    open func didSend(_ message: Message) {}

    /// A message was refused; it stays on the screen, to be sent again.
    open func didFail(_ failure: ChatFailure) {}

    /// The rows of the screen, before they are shown: what is shown instead. Each row keeps its `id`, once.
    open func willShow(_ rows: [ChatRow]) -> [ChatRow] { rows }

    /// A cell is about to be seen.
    open func willDisplay(_ cell: MessageCell, _ row: MessageRow) {}

    /// The person has tapped a message: an image opens, an answer shows what it answers, and what was not sent is sent again.
    open func didTap(_ row: MessageRow) {
        if row.state?.isFailed == true { return self.perform(.retry, on: row) }
        if case .image = row.content { return self.openImage(row) }
        if let quoted = row.quote?.message { self.scroll(to: quoted, animated: true) }
    }

    /// Shows an image in full.
    open func openImage(_ row: MessageRow) {
        self.present(ImageViewController(row, interface: self.interface), animated: true)
    }

    /// Returns the actions in the menu of a message.
    open func actions(for row: MessageRow) -> [MessageAction] {
        let own = self.info?.members.first { $0.id == self.owner }
        return MessageAction.available(
            for: row,
            MessageAction.Facts(
                conversation: self.conversation, mayWrite: self.writeNotice == nil, role: own?.role,
                recallLimit: self.interface.configuration.recallLimitMilliseconds,
                showsMarks: self.interface.configuration.showsReadMarks, now: self.now))
    }

    /// The person has chosen what to do with a message.
    open func perform(_ action: MessageAction, on row: MessageRow) { self.carryOut(action, on: row) }

    /// Opens what is set for the conversation.
    open func openSettings() {
        self.navigationController?.pushViewController(
            ConversationSettingsViewController(
                conversation: self.conversation, title: self.title, interface: self.interface), animated: true)
    }

    // MARK: The view

    open override func viewDidLoad() {
        super.viewDidLoad()
        self.view.backgroundColor = .systemBackground
        self.arrange()
        self.connectInput()
        self.follow()
        self.listener = self.interface.outgoing.listen { [weak self] conversation, event in
            guard let self, conversation == self.conversation else { return }
            self.showOutgoing(event)
        }
        self.checkPerson()
    }

    private func arrange() {
        self.tableView.separatorStyle = .none
        self.tableView.keyboardDismissMode = .interactive
        self.tableView.allowsSelection = true
        self.tableView.accessibilityIdentifier = "tidings.messages"
        self.tableView.delegate = self
        self.registerCells()
        self.tableView.dataSource = self.dataSource
        self.wheel.accessibilityLabel = self.words.loading
        self.tableView.tableHeaderView = self.wheel
        self.emptyLabel.textAlignment = .center
        self.unreadButton.addAction(UIAction { [weak self] _ in self?.jumpToFirstUnread() }, for: .touchUpInside)
        self.newButton.addAction(
            UIAction { [weak self] _ in self?.scrollToBottom(animated: true) }, for: .touchUpInside)
        for button in [self.unreadButton, self.newButton] {
            button.backgroundColor = .tertiarySystemBackground
            button.isHidden = true
        }
        for view in [self.tableView, self.inputBar, self.unreadButton, self.newButton] as [UIView] {
            view.translatesAutoresizingMaskIntoConstraints = false
            self.view.addSubview(view)
        }
        let area = self.view.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            self.tableView.leadingAnchor.constraint(equalTo: self.view.leadingAnchor),
            self.tableView.trailingAnchor.constraint(equalTo: self.view.trailingAnchor),
            self.tableView.topAnchor.constraint(equalTo: area.topAnchor),
            self.tableView.bottomAnchor.constraint(equalTo: self.inputBar.topAnchor),
            self.inputBar.leadingAnchor.constraint(equalTo: self.view.leadingAnchor),
            self.inputBar.trailingAnchor.constraint(equalTo: self.view.trailingAnchor),
            self.inputBar.bottomAnchor.constraint(equalTo: self.view.keyboardLayoutGuide.topAnchor),
            self.unreadButton.trailingAnchor.constraint(equalTo: area.trailingAnchor, constant: -12),
            self.unreadButton.topAnchor.constraint(equalTo: area.topAnchor, constant: 12),
            self.newButton.trailingAnchor.constraint(equalTo: area.trailingAnchor, constant: -12),
            self.newButton.bottomAnchor.constraint(equalTo: self.inputBar.topAnchor, constant: -12),
        ])
        let settings = UIBarButtonItem(
            title: nil, image: UIImage(systemName: "ellipsis.circle"),
            primaryAction: UIAction { [weak self] _ in self?.openSettings() })
        settings.accessibilityLabel = self.words.settings
        self.navigationItem.rightBarButtonItem = settings
    }

    open override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        self.checkPerson()
        if self.isOpen { self.client.activeConversation = self.conversation }
        self.renderNow()
        self.learnTitle()
    }

    open override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)
        self.isOnScreen = true
        self.didComeOnScreen()
    }

    /// Keeps the messages at the bottom there when the keyboard comes.
    open override func viewDidLayoutSubviews() {
        super.viewDidLayoutSubviews()
        let height = self.tableView.bounds.height
        guard height != self.tableHeight else { return }
        self.tableHeight = height
        if self.wasPlaced, self.wasAtBottom { self.scrollToBottom(animated: false) }
    }

    open override func viewWillDisappear(_ animated: Bool) {
        super.viewWillDisappear(animated)
        self.isOnScreen = false
        self.keepDraft()
        self.sayTyping(false)
        // Another window may show it, too.
        guard self.interface.openScreens.remove(self, of: self.conversation) else { return }
        if self.client.activeConversation == self.conversation { self.client.activeConversation = nil }
        self.endListening()
    }

    // MARK: Small parts

    func learnTitle() {
        guard self.givenTitle == nil, self.isOpen else { return }
        Task { [weak self, interface, conversation] in
            let title = await interface.title(of: conversation)
            guard let self, self.isOpen else { return }
            self.title = title
            self.showTyping()
        }
    }

    func showLoading(_ isLoading: Bool) {
        self.isLoading = isLoading
        if isLoading { self.wheel.startAnimating() } else { self.wheel.stopAnimating() }
    }

    /// Shows a text in the place of messages.
    func showEmpty() {
        let isGone = self.owner != nil && !self.isOpen
        self.emptyLabel.text = isGone ? self.words.signedOut : self.words.empty
        self.tableView.backgroundView = self.rows.isEmpty && self.owner != nil ? self.emptyLabel : nil
    }

    /// Why the person may not write here; nil if they may.
    var writeNotice: String? {
        guard self.owner == nil || self.isOpen else { return self.words.signedOut }
        guard let info = self.info, let owner = self.owner, !info.mayWrite(owner, at: self.now) else { return nil }
        if info.isDissolved { return self.words.dissolved }
        guard let own = info.members.first(where: { $0.id == owner }) else { return self.words.notAMember }
        return own.mute?.holds(at: self.now) == true ? self.words.muted : self.words.onlyAdminsWrite
    }
}
