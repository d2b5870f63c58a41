public import Foundation

extension IndexPath {
    /// The place of a row in a section.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }
    /// The section.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }
    /// The row in the section.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}

/// Tells a table what is in it. https://developer.apple.com/documentation/uikit/uitableviewdatasource
@MainActor public protocol UITableViewDataSource: AnyObject {
    /// How many rows a section has.
    func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int
    /// Makes the cell of a row, by `dequeueReusableCell(withIdentifier:for:)`.
    func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell
    /// How many sections there are: one if nothing else is said.
    func numberOfSections(in tableView: UITableView) -> Int
    /// Returns the title above a section; nil for none.
    func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String?
    /// Returns the title below a section; nil for none.
    func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String?
    /// Returns true if the person can change a row: only then a swipe opens something.
    func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool
}

extension UITableViewDataSource {
    /// One, unless the data source says otherwise.
    public func numberOfSections(in tableView: UITableView) -> Int { 1 }
    /// Nothing, unless the data source says otherwise.
    public func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? { nil }
    /// Nothing, unless the data source says otherwise.
    public func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String? { nil }
    /// Yes, unless the data source says otherwise.
    public func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool { true }
}

/// Is asked and told what happens to a table's rows. https://developer.apple.com/documentation/uikit/uitableviewdelegate
@MainActor public protocol UITableViewDelegate: UIScrollViewDelegate {
    /// A row becomes visible.
    func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath)
    /// A row is visible no longer.
    func tableView(_ tableView: UITableView, didEndDisplaying cell: UITableViewCell, forRowAt indexPath: IndexPath)
    /// Which row a tap chooses: the tapped one if nothing else is said, none for nil.
    func tableView(_ tableView: UITableView, willSelectRowAt indexPath: IndexPath) -> IndexPath?
    /// A tap has chosen a row.
    func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath)
    /// A tap elsewhere has taken the choice away.
    func tableView(_ tableView: UITableView, didDeselectRowAt indexPath: IndexPath)
    /// Returns the actions of a swipe to where lines begin; nil for none.
    func tableView(
        _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration?
    /// Returns the actions of a swipe to where lines end; nil for none.
    func tableView(
        _ tableView: UITableView, leadingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration?
    /// Returns the menu that opens when a finger stays on a row; nil for none.
    func tableView(
        _ tableView: UITableView, contextMenuConfigurationForRowAt indexPath: IndexPath, point: CGPoint
    ) -> UIContextMenuConfiguration?
}

extension UITableViewDelegate {
    /// Nothing, unless the delegate has it.
    public func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath) {}
    /// Nothing, unless the delegate has it.
    public func tableView(
        _ tableView: UITableView, didEndDisplaying cell: UITableViewCell, forRowAt indexPath: IndexPath
    ) {}
    /// The tapped row, unless the delegate says otherwise.
    public func tableView(_ tableView: UITableView, willSelectRowAt indexPath: IndexPath) -> IndexPath? { indexPath }
    /// Nothing, unless the delegate has it.
    public func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {}
    /// Nothing, unless the delegate has it.
    public func tableView(_ tableView: UITableView, didDeselectRowAt indexPath: IndexPath) {}
    /// Nothing, unless the delegate says otherwise.
    public func tableView(
        _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? { nil }
    /// Nothing, unless the delegate says otherwise.
    public func tableView(
        _ tableView: UITableView, leadingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? { nil }
    /// Nothing, unless the delegate says otherwise.
    public func tableView(
        _ tableView: UITableView, contextMenuConfigurationForRowAt indexPath: IndexPath, point: CGPoint
    ) -> UIContextMenuConfiguration? { nil }
}

/// An action that a swipe on a row opens. https://developer.apple.com/documentation/uikit/uicontextualaction
@MainActor public final class UIContextualAction {
    /// The kind of action. Raw values as Apple's.
    public enum Style: Int, Hashable, Sendable {
        case normal, destructive
    }

    /// Does it, and tells by the closure whether it was done.
    public typealias Handler = (UIContextualAction, UIView, @escaping (Bool) -> Void) -> Void

    /// The kind of action.
    public let style: Style
    /// The text written on it.
    public var title: String?
    /// Its image.
    public var image: UIImage?
    /// Its colour.
    public var backgroundColor: UIColor?
    /// Carries out the action.
    public let handler: Handler

    /// An action.
    public init(style: Style, title: String?, handler: @escaping Handler) {
        self.style = style
        self.title = title
        self.handler = handler
    }
}

/// The actions that a swipe on a row opens, that at the edge first. https://developer.apple.com/documentation/uikit/uiswipeactionsconfiguration
@MainActor public final class UISwipeActionsConfiguration {
    /// The actions.
    public let actions: [UIContextualAction]
    /// True if a long swipe does the first; a virtual finger makes short ones.
    public var performsFirstActionWithFullSwipe = true

    /// Actions of a row.
    public init(actions: [UIContextualAction]) { self.actions = actions }
}

/// A screen that is one table. https://developer.apple.com/documentation/uikit/uitableviewcontroller
open class UITableViewController: UIViewController, UITableViewDataSource, UITableViewDelegate {
    private let style: UITableView.Style
    /// The table, which is the view.
    open var tableView: UITableView {
        get {
            guard let table = self.view as? UITableView else { fatalError("the view of the screen must be a table") }
            return table
        }
        set { self.view = newValue }
    }
    /// The control that a pull at the top shows.
    open var refreshControl: UIRefreshControl? {
        get { self.tableView.refreshControl }
        set { self.tableView.refreshControl = newValue }
    }

    /// A screen of a table of a style.
    public init(style: UITableView.Style) {
        self.style = style
        super.init(nibName: nil, bundle: nil)
    }

    /// A screen of a plain table.
    public override init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
        self.style = .plain
        super.init(nibName: nibNameOrNil, bundle: nibBundleOrNil)
    }

    /// From a storyboard, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// Makes the table, whose data source and delegate the screen is.
    open override func loadView() {
        let table = UITableView(frame: .zero, style: self.style)
        table.dataSource = self
        table.delegate = self
        self.view = table
    }

    /// Takes the choice of a row away.
    open override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        guard let chosen = self.tableView.indexPathForSelectedRow else { return }
        self.tableView.deselectRow(at: chosen, animated: animated)
    }

    // Here so that subclasses override them, as on Apple's systems; the protocols say what each is.

    open func numberOfSections(in tableView: UITableView) -> Int { 1 }
    open func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 0 }
    open func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        fatalError("\(type(of: self)) must override tableView(_:cellForRowAt:)")
    }
    open func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? { nil }
    open func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String? { nil }
    open func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool { true }
    open func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath) {}
    open func tableView(
        _ tableView: UITableView, didEndDisplaying cell: UITableViewCell, forRowAt indexPath: IndexPath
    ) {}
    open func tableView(_ tableView: UITableView, willSelectRowAt indexPath: IndexPath) -> IndexPath? { indexPath }
    open func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {}
    open func tableView(_ tableView: UITableView, didDeselectRowAt indexPath: IndexPath) {}
    open func tableView(
        _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? { nil }
    open func tableView(
        _ tableView: UITableView, leadingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? { nil }
    open func tableView(
        _ tableView: UITableView, contextMenuConfigurationForRowAt indexPath: IndexPath, point: CGPoint
    ) -> UIContextMenuConfiguration? { nil }
    open func scrollViewDidScroll(_ scrollView: UIScrollView) {}
}
