import Foundation
import TidingsClient
import TidingsKit
import TidingsModel
public import UIKit

/// A row of a screen of settings.
struct FormRow: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// It says something; with a swipe, a tap does the same.
        case text
        case link
        case button(isDestructive: Bool)
        case toggle(isOn: Bool)
        case choice(isChosen: Bool)
        /// In minutes after midnight.
        case time(minutes: Int)
    }

    /// Unlike any other on its screen.
    var id: String
    var title: String
    /// Below the title.
    var detail: String?
    /// Beside it.
    var value: String?
    var kind: Kind
    /// The title of the action that a swipe from the trailing edge offers.
    var swipe: String?

    init(
        _ id: String, _ title: String, detail: String? = nil, value: String? = nil, kind: Kind = .text,
        swipe: String? = nil
    ) {
        (self.id, self.title, self.detail, self.value) = (id, title, detail, value)
        (self.kind, self.swipe) = (kind, swipe)
    }

    var spoken: String {
        [self.title, self.value, self.detail].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    static let detailed = "detailed"
    var cellIdentifier: String { self.detail == nil ? "plain" : Self.detailed }
}

struct FormSection: Hashable, Sendable {
    var id: String
    var header: String?
    var footer: String?
    var rows: [FormRow]

    init(_ id: String, header: String? = nil, footer: String? = nil, rows: [FormRow]) {
        (self.id, self.header, self.footer, self.rows) = (id, header, footer, rows)
    }
}

/// The base of the SDK's screens of settings: a table of sections, described by values.
@MainActor open class FormViewController: UIViewController, UITableViewDelegate {
    /// The state that the app's screens share.
    public let interface: ChatInterface
    /// The table.
    public let tableView = UITableView(frame: .zero, style: .insetGrouped)
    /// The sections of the table. Rows of the same id change in their place.
    var sections: [FormSection] = [] { didSet { if self.sections != oldValue { self.showSections() } } }

    private(set) lazy var texts = RowTexts(self.interface)
    let followers = StreamFollowers()
    private var owner: UserID?
    /// The question that the screen asks; it disappears when the person signs out.
    weak var question: UIViewController?
    /// True while the first person who was signed in still is: a screen shows and changes nothing of another person's.
    var isOwners: Bool { self.client.userID == self.owner }
    var words: ListWords { self.interface.words.lists }
    var client: ChatClient { self.interface.client }

    private lazy var source = FormSource(tableView: self.tableView) { [weak self] table, path, id in
        guard let self, let row = self.row(id) else { return nil }
        let cell = table.dequeueReusableCell(withIdentifier: row.cellIdentifier, for: path)
        (cell as? FormCell)?.configure(row, in: self)
        return cell
    }

    /// A screen of an interface; nil takes `ChatInterface.shared`.
    public init(interface: ChatInterface? = nil) {
        self.interface = ChatInterface.required(interface)
        super.init(nibName: nil, bundle: nil)
    }

    /// From a storyboard: always nil.
    public required init?(coder: NSCoder) { return nil }

    // MARK: What a screen says and does

    /// Sets `sections` anew. Called when the screen appears, and when the server has refused a setting.
    open func refresh() {}
    /// Gives up the state beside `sections`: its person has signed out.
    func forget() {}
    func didChoose(_ row: FormRow) {}
    /// The row in `sections` still says what was before.
    func didSwitch(_ row: FormRow, isOn: Bool) {}
    func didSet(_ row: FormRow, minutes: Int) {}
    func didSwipe(_ row: FormRow) {}
    func willShow(_ row: FormRow) {}

    func row(_ id: String) -> FormRow? {
        for section in self.sections { if let row = section.rows.first(where: { $0.id == id }) { return row } }
        return nil
    }

    /// Shows what is set, and nothing where the screen's person is not signed in.
    final func update() {
        if self.owner == nil { self.owner = self.client.userID }
        if self.isOwners { return self.refresh() }
        self.question?.dismiss(animated: false)
        self.forget()
        self.sections = []
    }

    /// Changes something on this device and shows what is set then; what has failed is said.
    func change(_ row: FormRow, _ change: () throws -> Void) {
        guard self.isOwners else { return }
        do {
            try change()
        } catch {
            self.tableView.reloadData()
            self.show(error, words: self.interface.words)
        }
        self.update()
    }

    /// Has the server do something and shows what is set then; what has failed is said.
    func request(_ call: @escaping (ChatClient) async throws -> Void, then done: @escaping () -> Void = {}) {
        guard self.isOwners else { return }
        Task { [weak self, client = self.client] in
            do {
                try await call(client)
                done()
            } catch {
                guard let self, self.isOwners else { return }
                self.show(error, words: self.interface.words)
            }
            self?.update()
        }
    }

    /// Asks to confirm an action on a person or thing with a name.
    func confirm(
        _ question: KeyPath<ListWords, String>, _ name: String, button: String,
        then act: @escaping @MainActor () -> Void
    ) {
        self.question = self.confirm(
            self.words.filled(question, "name", name), button: button, words: self.interface.words, then: act)
    }

    // MARK: The screen

    open override func loadView() { self.view = self.tableView }

    open override func viewDidLoad() {
        super.viewDidLoad()
        for identifier in ["plain", FormRow.detailed] {
            self.tableView.register(FormCell.self, forCellReuseIdentifier: identifier)
        }
        self.tableView.rowHeight = UITableView.automaticDimension
        self.tableView.delegate = self
        self.tableView.dataSource = self.source
        self.showSections()
        // What the server refuses is undone.
        self.followers.follow(self.client.problems) { [weak self] _ in self?.update() }
        // People sign in and out, and the screen may have been opened before there was a connection.
        self.followers.follow(self.client.connectionStatuses) { [weak self] _ in self?.update() }
    }

    open override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        self.update()
    }

    private func showSections() {
        guard self.isViewLoaded else { return }
        let isTitledAnew =
            self.sections.map { [$0.header, $0.footer] } != self.source.sections.map { [$0.header, $0.footer] }
        let old = self.source.sections.flatMap(\.rows).reduce(into: [String: FormRow]()) { $0[$1.id] = $1 }
        self.source.sections = self.sections
        var snapshot = NSDiffableDataSourceSnapshot<String, String>()
        snapshot.appendSections(self.sections.map(\.id))
        for section in self.sections { snapshot.appendItems(section.rows.map(\.id), toSection: section.id) }
        for row in self.sections.flatMap(\.rows) {
            guard let before = old[row.id], before != row else { continue }
            // A cell of another style is another cell.
            if before.cellIdentifier == row.cellIdentifier {
                snapshot.reconfigureItems([row.id])
            } else {
                snapshot.reloadItems([row.id])
            }
        }
        self.source.apply(snapshot, animatingDifferences: !old.isEmpty && self.view.window != nil)
        // A snapshot knows of no titles.
        if isTitledAnew, !old.isEmpty { self.tableView.reloadData() }
    }

    private func row(at indexPath: IndexPath) -> FormRow? {
        self.source.itemIdentifier(for: indexPath).flatMap { self.row($0) }
    }

    /// A row comes into view: what it lacks is asked for.
    open func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath) {
        if let row = self.row(at: indexPath) { self.willShow(row) }
    }

    /// A row was tapped.
    open func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        tableView.deselectRow(at: indexPath, animated: true)
        guard let row = self.row(at: indexPath) else { return }
        switch row.kind {
        case .link, .button, .choice: self.didChoose(row)
        case .text: if row.swipe != nil { self.didSwipe(row) }
        case .toggle, .time: break
        }
    }

    /// Returns the action of a swipe from the trailing edge.
    open func tableView(
        _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? {
        guard let row = self.row(at: indexPath), let title = row.swipe else { return nil }
        let action = UIContextualAction(style: .destructive, title: title) { [weak self] _, _, done in
            self?.didSwipe(row)
            // The row stays until it is done.
            done(false)
        }
        let configuration = UISwipeActionsConfiguration(actions: [action])
        configuration.performsFirstActionWithFullSwipe = false
        return configuration
    }
}

/// Rows and sections by their ids.
@MainActor private final class FormSource: UITableViewDiffableDataSource<String, String> {
    var sections: [FormSection] = []

    override func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? {
        self.sections.indices.contains(section) ? self.sections[section].header : nil
    }

    override func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String? {
        self.sections.indices.contains(section) ? self.sections[section].footer : nil
    }

    /// A diffable source lets nothing be swiped otherwise; a row without an own action would have Apple's "Delete".
    override func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool {
        let id = self.itemIdentifier(for: indexPath)
        return self.sections.flatMap(\.rows).contains { $0.id == id && $0.swipe != nil }
    }
}
