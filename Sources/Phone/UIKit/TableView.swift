public import Foundation
import PhoneCore

/// Rows in sections. A virtual table shows a screenful of rows, `visibleRows`, each of `rowPoints`; only these have cells.
/// https://developer.apple.com/documentation/uikit/uitableview
open class UITableView: UIScrollView {
    /// How many rows are visible at once. Linux only.
    public nonisolated static let visibleRows = 12
    /// How high `contentOffset` and `contentSize` count a row. Linux only.
    public nonisolated static let rowPoints: CGFloat = 44
    /// The height of rows that their contents make.
    public nonisolated static let automaticDimension: CGFloat = -1

    /// How sections look. Raw values as Apple's.
    public enum Style: Int, Hashable, Sendable {
        case plain, grouped, insetGrouped
    }

    /// Where a row is scrolled to. Raw values as Apple's.
    public enum ScrollPosition: Int, Hashable, Sendable {
        case none, top, middle, bottom
    }

    /// How rows come and go. Raw values as Apple's.
    public enum RowAnimation: Int, Hashable, Sendable {
        case fade, right, left, top, bottom, none, middle
        case automatic = 100
    }

    /// The line between rows. Raw values as Apple's.
    public enum SeparatorStyle: Int, Hashable, Sendable {
        case none, singleLine
    }

    /// How sections look.
    public let style: Style
    /// The source of its rows.
    open weak var dataSource: (any UITableViewDataSource)? { didSet { self.reloadData() } }
    /// Who is asked and told what happens to rows.
    open weak var delegate: (any UITableViewDelegate)? {
        get { self.scrollDelegate as? any UITableViewDelegate }
        set { self.scrollDelegate = newValue }
    }
    /// Kept, without effect.
    open var separatorStyle = SeparatorStyle.singleLine
    /// Kept, without effect.
    open var rowHeight = UITableView.automaticDimension
    /// True if a tap chooses a row.
    open var allowsSelection = true
    /// The view above the rows that scrolls with them.
    open var tableHeaderView: UIView? { didSet { self.setNeedsLayout() } }
    /// The view behind the rows, seen where there are none.
    open var backgroundView: UIView? { didSet { self.setNeedsLayout() } }
    /// The row that is chosen.
    public private(set) var indexPathForSelectedRow: IndexPath?

    private var shown: [(path: IndexPath, cell: UITableViewCell)] = []
    private var classes: [String: UITableViewCell.Type] = [:]
    private var waiting: [String: [UITableViewCell]] = [:]
    private var reconfigured: UITableViewCell?
    private var countsIfKnown: [Int]?
    /// Counts changes of rows: a layout that meets one begins anew.
    private var changes = 0

    /// A table of a style.
    public init(frame: CGRect, style: Style) {
        self.style = style
        super.init(frame: frame)
    }

    /// A plain table.
    public override convenience init(frame: CGRect) { self.init(frame: frame, style: .plain) }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { return nil }

    // MARK: What is in it

    /// Rows by section.
    private var counts: [Int] {
        if let counts = self.countsIfKnown { return counts }
        guard let source = self.dataSource else { return [] }
        let counts = (0..<source.numberOfSections(in: self)).map { source.tableView(self, numberOfRowsInSection: $0) }
        self.countsIfKnown = counts
        return counts
    }

    /// A screenful of rows, whatever the frame.
    open override var bounds: CGRect {
        let height = Self.rowPoints * CGFloat(Self.visibleRows)
        return CGRect(origin: self.contentOffset, size: CGSize(width: UIScreen.main.bounds.width, height: height))
    }
    /// The size of the content: as high as all rows.
    open override var contentSize: CGSize {
        get { CGSize(width: self.bounds.width, height: Self.rowPoints * CGFloat(self.counts.reduce(0, +))) }
        set {}
    }

    /// Forgets all cells, and asks for those of the visible rows again.
    open func reloadData() {
        self.indexPathForSelectedRow = nil
        self.moveRows { _ in nil }
    }

    /// Keeps the cells of rows that are elsewhere now, and forgets the others.
    func moveRows(_ newPath: (IndexPath) -> IndexPath?) {
        let moved = self.shown.map { (row: $0, path: newPath($0.path)) }
        self.shown = moved.compactMap { row, path in path.map { ($0, row.cell) } }
        self.changes += 1
        self.indexPathForSelectedRow = self.indexPathForSelectedRow.flatMap(newPath)
        self.countsIfKnown = nil
        self.setNeedsLayout()
        for row in self.shown { row.cell.forgetOffer() }
        // The delegate, which is told of these, finds the table as it is now, and may change it again.
        for (row, path) in moved where path == nil { self.retire(row) }
    }

    private func retire(_ row: (path: IndexPath, cell: UITableViewCell)) {
        row.cell.removeFromSuperview()
        row.cell.table = nil
        self.keepForReuse(row.cell)
        self.delegate?.tableView(self, didEndDisplaying: row.cell, forRowAt: row.path)
    }

    private func keepForReuse(_ cell: UITableViewCell) {
        if let kind = cell.reuseIdentifier { self.waiting[kind, default: []].append(cell) }
    }

    // MARK: Cells

    /// Names the class of a kind of cells.
    open func register(_ cellClass: AnyClass?, forCellReuseIdentifier identifier: String) {
        self.classes[identifier] = cellClass as? UITableViewCell.Type
    }

    /// A cell that a row has left, or a new one of the registered class.
    ///
    /// - Precondition: a class is registered for the identifier (Apple throws an exception).
    open func dequeueReusableCell(withIdentifier identifier: String, for indexPath: IndexPath) -> UITableViewCell {
        if let cell = self.reconfigured, cell.reuseIdentifier == identifier { return cell }
        if let cell = self.dequeueReusableCell(withIdentifier: identifier) { return cell }
        preconditionFailure("no class is registered for cells of the identifier \(identifier)")
    }

    /// A cell that a row has left, or one of the registered class; nil if none is registered.
    open func dequeueReusableCell(withIdentifier identifier: String) -> UITableViewCell? {
        if let cell = self.waiting[identifier]?.popLast() {
            cell.isSelected = false
            cell.prepareForReuse()
            return cell
        }
        return self.classes[identifier].map { $0.init(dequeuedAs: identifier) }
    }

    /// Asks for the cell of a visible row again, which stays the same.
    func reconfigure(_ indexPath: IndexPath) {
        guard let cell = self.cellForRow(at: indexPath) else { return }
        self.reconfigured = cell
        cell.forgetOffer()
        defer { self.reconfigured = nil }
        let again = self.dataSource?.tableView(self, cellForRowAt: indexPath)
        precondition(again === cell, "the cell of a reconfigured item must be dequeued again with the same identifier")
    }

    /// The cell of a visible row; nil of any other.
    open func cellForRow(at indexPath: IndexPath) -> UITableViewCell? {
        self.shown.first { $0.path == indexPath }?.cell
    }
    /// The row of a visible cell; nil of any other.
    open func indexPath(for cell: UITableViewCell) -> IndexPath? { self.shown.first { $0.cell === cell }?.path }
    /// The cells there are, from the top.
    open var visibleCells: [UITableViewCell] { self.shown.map(\.cell) }
    /// The rows on the screen, from the top.
    open var indexPathsForVisibleRows: [IndexPath]? { self.visiblePaths }

    private var paths: [IndexPath] {
        self.counts.enumerated().flatMap { section, count in (0..<count).map { IndexPath(row: $0, section: section) } }
    }

    private var visiblePaths: [IndexPath] {
        let paths = self.paths
        let first = min(max(0, Int(self.contentOffset.y / Self.rowPoints)), max(0, paths.count - Self.visibleRows))
        return Array(paths.dropFirst(first).prefix(Self.visibleRows))
    }

    /// Gives the rows on the screen their cells.
    open override func layoutSubviews() {
        // What is scrolled beyond the end comes back, as when rows have gone.
        if self.contentOffset.y > self.end { self.contentOffset.y = self.end }
        let (changes, paths) = (self.changes, self.visiblePaths)
        let gone = self.shown.filter { !paths.contains($0.path) }
        self.shown.removeAll { !paths.contains($0.path) }
        for row in gone { self.retire(row) }
        let old = self.shown
        // A delegate that is told or asked here may change the rows: the paths are old then.
        guard self.changes == changes else { return self.setNeedsLayout() }
        for path in paths where !old.contains(where: { $0.path == path }) {
            guard let cell = self.dataSource?.tableView(self, cellForRowAt: path) else { continue }
            guard self.changes == changes else {
                self.keepForReuse(cell)
                return self.setNeedsLayout()
            }
            cell.table = self
            cell.isSelected = path == self.indexPathForSelectedRow
            self.shown.append((path, cell))
            self.delegate?.tableView(self, willDisplay: cell, forRowAt: path)
            if self.changes != changes { return self.setNeedsLayout() }
        }
        self.shown.sort { $0.path < $1.path }
        self.keepSubviews()
    }

    private func keepSubviews() {
        var views = [self.refreshControl, self.backgroundView, self.tableHeaderView].compactMap(\.self)
        let (counts, all) = (self.counts, self.paths)
        // An empty section is seen between rows that are, and at an end that is.
        let first = self.shown.first?.path == all.first ? 0 : self.shown.first?.path.section ?? 0
        let last = self.shown.last?.path == all.last ? counts.count : self.shown.last?.path.section ?? 0
        for (section, count) in counts.enumerated() where section >= first && section <= last {
            let rows = self.shown.filter { $0.path.section == section }
            views += self.header(self.dataSource?.tableView(self, titleForHeaderInSection: section))
            views += rows.map(\.cell)
            if rows.last.map({ $0.path.row == count - 1 }) ?? true {
                views += self.header(self.dataSource?.tableView(self, titleForFooterInSection: section))
            }
        }
        self.setOwnSubviews(views)
    }

    private func header(_ text: String?) -> [UIView] {
        guard let text else { return [] }
        let label = TableHeader()
        label.text = text
        label.accessibilityTraits = .header
        return [label]
    }

    // MARK: Scrolling and choosing

    /// Scrolls to a row.
    ///
    /// - Precondition: there is such a row (Apple throws an exception).
    open func scrollToRow(at indexPath: IndexPath, at scrollPosition: ScrollPosition, animated: Bool) {
        guard let place = self.paths.firstIndex(of: indexPath) else {
            preconditionFailure("the table has no row \(indexPath)")
        }
        let (first, last) = (Int(self.contentOffset.y / Self.rowPoints), Self.visibleRows - 1)
        let target: Int =
            switch scrollPosition {
            case .none: place < first ? place : place > first + last ? place - last : first
            case .top: place
            case .middle: place - Self.visibleRows / 2
            case .bottom: place - last
            }
        let farthest = max(0, self.paths.count - Self.visibleRows)
        let offset = Self.rowPoints * CGFloat(min(max(0, target), farthest))
        self.setContentOffset(CGPoint(x: self.contentOffset.x, y: offset), animated: animated)
    }

    /// Chooses a row, without telling the delegate.
    open func selectRow(at indexPath: IndexPath?, animated: Bool, scrollPosition: ScrollPosition) {
        if let chosen = self.indexPathForSelectedRow { self.deselectRow(at: chosen, animated: animated) }
        guard let indexPath else { return }
        self.indexPathForSelectedRow = indexPath
        self.cellForRow(at: indexPath)?.isSelected = true
        if scrollPosition != .none { self.scrollToRow(at: indexPath, at: scrollPosition, animated: animated) }
    }

    /// Takes the choice of a row away, without telling the delegate.
    open func deselectRow(at indexPath: IndexPath, animated: Bool) {
        guard self.indexPathForSelectedRow == indexPath else { return }
        self.indexPathForSelectedRow = nil
        self.cellForRow(at: indexPath)?.isSelected = false
    }

    func choose(_ cell: UITableViewCell) {
        guard let tapped = self.indexPath(for: cell) else { return }
        let answer = self.delegate.map { $0.tableView(self, willSelectRowAt: tapped) } ?? tapped
        guard let path = answer else { return }
        let former = self.indexPathForSelectedRow
        self.selectRow(at: path, animated: true, scrollPosition: .none)
        if let former, former != path { self.delegate?.tableView(self, didDeselectRowAt: former) }
        self.delegate?.tableView(self, didSelectRowAt: path)
    }

    func closeSwipes() { for row in self.shown { row.cell.closeSwipe() } }

    func swipeActions(of cell: UITableViewCell, leading: Bool) -> [UIContextualAction] {
        guard let path = self.indexPath(for: cell), let delegate = self.delegate,
            self.dataSource?.tableView(self, canEditRowAt: path) == true
        else { return [] }
        let configuration =
            leading
            ? delegate.tableView(self, leadingSwipeActionsConfigurationForRowAt: path)
            : delegate.tableView(self, trailingSwipeActionsConfigurationForRowAt: path)
        return configuration?.actions ?? []
    }

    func menu(of cell: UITableViewCell) -> UIMenu? {
        guard let path = self.indexPath(for: cell) else { return nil }
        return self.delegate?.tableView(self, contextMenuConfigurationForRowAt: path, point: .zero)?.makeMenu()
    }

    override func scroll(_ direction: ViewAction.Direction) {
        self.closeSwipes()
        super.scroll(direction)
    }
}
