import Foundation
import TidingsClient
public import TidingsModel
public import UIKit

/// The screen of one conversation's settings: if it rings and stays at the top; of a group its members, the person's nickname there and a
/// way out; of a conversation of two a switch to block the other person. The screen of a conversation opens it.
@MainActor open class ConversationSettingsViewController: FormViewController {
    /// The conversation.
    public let conversation: ConversationID
    private var form: ConversationForm
    private var asked: Set<UserID> = []

    /// The settings of a conversation.
    ///
    /// - Parameters:
    ///   - conversation: the conversation.
    ///   - title: what it is called; nil for what the interface knows.
    ///   - interface: nil takes `ChatInterface.shared`.
    public init(conversation: ConversationID, title: String? = nil, interface: ChatInterface? = nil) {
        let interface = ChatInterface.required(interface)
        self.conversation = conversation
        self.form = ConversationForm(
            conversation: conversation, title: title ?? interface.knownTitle(of: conversation) ?? conversation.target)
        super.init(interface: interface)
        self.title = self.words.details
    }

    /// From a storyboard: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// The person has left the group: the screens of it are taken away.
    open func didLeave() { self.navigationController?.popToRootViewController(animated: true) }

    open override func viewDidLoad() {
        super.viewDidLoad()
        self.tableView.accessibilityIdentifier = "tidings.conversation"
        let conversation = self.conversation
        self.followers.follow(self.client.logEntries) { [weak self] entry in
            switch entry.body {
            case .change(let change): if change.conversation == conversation { self?.update() }
            case .conversationSettings(let changed, _): if changed == conversation { self?.update() }
            case .personSettings, .blocked: self?.update()
            case .message, .read, .custom, .recall, .edit, .deletion, .unknown: break
            }
        }
        guard !conversation.type.targetIsPeer else { return }
        // What this device knows stays where the server does not answer.
        Task { [weak self, client = self.client] in
            guard let info = try? await client.conversationInfo(conversation) else { return }
            guard let self, self.isOwners else { return }
            self.form.info = info
            self.update()
        }
    }

    open override func refresh() {
        guard let settings = try? self.client.settings() else { return }
        let now = self.client.clock.now.wall
        self.form.person = self.client.userID
        self.form.settings = settings.conversations[self.conversation] ?? ConversationSettings()
        // An end that is past holds no more, whether or not the server has said so.
        if let end = self.form.settings.levelUntil, end <= now {
            self.form.settings.level = nil
            self.form.settings.levelUntil = nil
        }
        self.form.levelOfKind = settings.person.levels[self.conversation.type] ?? .all
        self.form.isBlocked = settings.blocked.contains(UserID(self.conversation.target))
        if let info = (try? self.client.storedConversationInfo(self.conversation)) ?? nil,
            info.version >= self.form.info?.version ?? 0
        {
            self.form.info = info
        }
        for member in self.form.info?.members ?? [] {
            self.form.names[member.id] = self.interface.knownName(of: member.id, in: self.conversation)
        }
        self.sections = self.form.sections(self.words) { self.texts.time.long($0, now: now) }
    }

    override func forget() {
        self.form = ConversationForm(conversation: self.conversation, title: self.form.title)
        self.asked = []
    }

    override func willShow(_ row: FormRow) {
        guard let member = self.form.info?.members.first(where: { ConversationForm.id(of: $0.id) == row.id })?.id,
            self.asked.insert(member).inserted, self.interface.knownName(of: member, in: self.conversation) == nil
        else { return }
        Task { [weak self, interface = self.interface, conversation = self.conversation] in
            _ = await interface.name(of: member, in: conversation)
            self?.update()
        }
    }

    // MARK: What a person does

    override func didSwitch(_ row: FormRow, isOn: Bool) {
        self.change(row) {
            if row.id == "pin" { return try self.client.setPinned(isOn, for: self.conversation) }
            let rings = try self.client.settings().person.levelThatRings(for: self.conversation.type)
            try self.client.setNotificationLevel(isOn ? .blocked : rings, for: self.conversation)
        }
    }

    override func didChoose(_ row: FormRow) {
        let (conversation, user) = (self.conversation, UserID(self.conversation.target))
        switch row.id {
        case "mute.for": self.chooseSpan(row)
        case "level":
            self.chooseLevel(row, of: conversation.type, self.form.settings.level, offersKind: true) {
                [weak self] level in
                guard let self else { return }
                self.change(row) { try self.client.setNotificationLevel(level, for: conversation) }
            }
        case "nickname": self.askNickname()
        case "leave":
            self.confirm(\.askLeave, self.form.title, button: row.title) { [weak self] in
                self?.request({ try await $0.leave(conversation) }, then: { self?.didLeave() })
            }
        case "block" where self.form.isBlocked: self.request { try await $0.unblock(user) }
        case "block":
            self.confirm(\.askBlock, self.form.title, button: row.title) { [weak self] in
                self?.request { try await $0.block(user) }
            }
        default: break
        }
    }

    private func chooseSpan(_ row: FormRow) {
        let options = zip(ConversationForm.spans, self.words.spans).map { (id: "\($0)", title: $1) }
        let screen = ChoiceViewController(self.interface, title: row.title, options: options, chosen: nil) {
            [weak self] chosen in
            guard let self, let span = Int64(chosen) else { return }
            let end = Date(timeIntervalSince1970: Double(self.client.clock.now.wall + span) / 1_000)
            self.change(row) { try self.client.setNotificationLevel(.blocked, for: self.conversation, until: end) }
        }
        self.navigationController?.pushViewController(screen, animated: true)
    }

    private func askNickname() {
        guard let person = self.form.person else { return }
        let (conversation, title) = (self.conversation, self.words.nickname)
        let nickname = self.form.info?.members.first { $0.id == person }?.nickname
        let question = UIAlertController(title: title, message: nil, preferredStyle: .alert)
        question.addTextField { field in
            field.text = nickname
            field.accessibilityLabel = title
        }
        question.addAction(
            UIAlertAction(title: self.words.save, style: .default) { [weak self, weak question] _ in
                let name = question?.textFields?.first?.text ?? ""
                self?.request(
                    { try await $0.setNickname(name.isEmpty ? nil : name, of: person, in: conversation) },
                    then: { self?.interface.forgetNames() })
            })
        question.addAction(UIAlertAction(title: self.interface.words.chat.cancel, style: .cancel, handler: nil))
        self.question = question
        self.present(question, animated: true)
    }
}
