public import Foundation

/// The content of a table: items by section, each once. https://developer.apple.com/documentation/uikit/nsdiffabledatasourcesnapshot
public struct NSDiffableDataSourceSnapshot<
    SectionIdentifierType: Hashable & Sendable, ItemIdentifierType: Hashable & Sendable
>: Sendable {
    /// The sections, in their order.
    public private(set) var sectionIdentifiers: [SectionIdentifierType] = []
    private var items: [SectionIdentifierType: [ItemIdentifierType]] = [:]
    private var sections: [ItemIdentifierType: SectionIdentifierType] = [:]
    /// Items whose cells are made again.
    public private(set) var reloadedItemIdentifiers: [ItemIdentifierType] = []
    /// Items whose cells are filled again (iOS 15).
    public private(set) var reconfiguredItemIdentifiers: [ItemIdentifierType] = []

    /// Nothing.
    public init() {}

    /// All items, in their order.
    public var itemIdentifiers: [ItemIdentifierType] { self.sectionIdentifiers.flatMap { self.items[$0] ?? [] } }
    /// The items of a section, in their order.
    ///
    /// - Precondition: the section is in it (Apple throws an exception).
    public func itemIdentifiers(inSection identifier: SectionIdentifierType) -> [ItemIdentifierType] {
        guard let items = self.items[identifier] else {
            preconditionFailure("the snapshot has no section \(identifier)")
        }
        return items
    }
    /// The place of an item among all.
    public func indexOfItem(_ identifier: ItemIdentifierType) -> Int? {
        self.sections[identifier] == nil ? nil : self.itemIdentifiers.firstIndex(of: identifier)
    }

    // That a section or an item is in it once, and that those named are in it, are preconditions (Apple throws an exception).

    /// Adds sections at the end.
    public mutating func appendSections(_ identifiers: [SectionIdentifierType]) {
        for identifier in identifiers {
            precondition(self.items[identifier] == nil, "the snapshot has the section \(identifier) already")
            self.items[identifier] = []
        }
        self.sectionIdentifiers += identifiers
    }
    /// Adds items at the end of a section: of the last one if none is named.
    public mutating func appendItems(
        _ identifiers: [ItemIdentifierType], toSection sectionIdentifier: SectionIdentifierType? = nil
    ) {
        guard let section = sectionIdentifier ?? self.sectionIdentifiers.last else {
            preconditionFailure("items need a section: append one first")
        }
        precondition(self.items[section] != nil, "the snapshot has no section \(section)")
        for identifier in identifiers {
            precondition(self.sections[identifier] == nil, "the snapshot has the item \(identifier) already")
            self.sections[identifier] = section
        }
        self.items[section]? += identifiers
    }
    /// Has the cells of items made again.
    public mutating func reloadItems(_ identifiers: [ItemIdentifierType]) {
        self.check(identifiers)
        self.reloadedItemIdentifiers += identifiers
    }
    /// Has the cells of items filled again, which stay the same (iOS 15).
    public mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) {
        self.check(identifiers)
        self.reconfiguredItemIdentifiers += identifiers
    }

    private func check(_ identifiers: [ItemIdentifierType]) {
        for identifier in identifiers {
            precondition(self.sections[identifier] != nil, "the snapshot has no item \(identifier)")
        }
    }

    fileprivate func path(of item: ItemIdentifierType) -> IndexPath? {
        guard let section = self.sections[item], let place = self.sectionIdentifiers.firstIndex(of: section) else {
            return nil
        }
        return self.items[section]?.firstIndex(of: item).map { IndexPath(row: $0, section: place) }
    }

    fileprivate func item(at path: IndexPath) -> ItemIdentifierType? {
        guard self.sectionIdentifiers.indices.contains(path.section) else { return nil }
        let items = self.itemIdentifiers(inSection: self.sectionIdentifiers[path.section])
        return items.indices.contains(path.row) ? items[path.row] : nil
    }

    fileprivate mutating func forgetReloads() {
        self.reloadedItemIdentifiers = []
        self.reconfiguredItemIdentifiers = []
    }
}

/// Keeps a table at what its snapshots say. The table does not hold it. https://developer.apple.com/documentation/uikit/uitableviewdiffabledatasource
open class UITableViewDiffableDataSource<
    SectionIdentifierType: Hashable & Sendable, ItemIdentifierType: Hashable & Sendable
>: UITableViewDataSource {
    /// Makes the cell of an item.
    public typealias CellProvider = (UITableView, IndexPath, ItemIdentifierType) -> UITableViewCell?
    /// A snapshot of these sections and items.
    public typealias Snapshot = NSDiffableDataSourceSnapshot<SectionIdentifierType, ItemIdentifierType>

    /// How rows come and go; kept, without effect.
    open var defaultRowAnimation = UITableView.RowAnimation.automatic
    private weak var table: UITableView?
    private let cellProvider: CellProvider
    private var current = Snapshot()

    /// Becomes the data source of a table.
    public init(tableView: UITableView, cellProvider: @escaping CellProvider) {
        self.table = tableView
        self.cellProvider = cellProvider
        tableView.dataSource = self
    }

    /// Brings the table to what a snapshot says: rows of the same items keep their cells, those of reloaded ones get others. The table
    /// stays at its `contentOffset`.
    open func apply(
        _ snapshot: NSDiffableDataSourceSnapshot<SectionIdentifierType, ItemIdentifierType>,
        animatingDifferences: Bool = true, completion: (() -> Void)? = nil
    ) {
        let old = self.current
        let reloaded = Set(snapshot.reloadedItemIdentifiers)
        self.current = snapshot
        self.current.forgetReloads()
        self.table?.moveRows { path in
            guard let item = old.item(at: path), !reloaded.contains(item) else { return nil }
            return self.indexPath(for: item)
        }
        for item in snapshot.reconfiguredItemIdentifiers where !reloaded.contains(item) {
            if let path = self.indexPath(for: item) { self.table?.reconfigure(path) }
        }
        if self.table?.window != nil { self.table?.layoutIfNeeded() }
        completion?()
    }

    /// Returns the content of the table.
    open func snapshot() -> NSDiffableDataSourceSnapshot<SectionIdentifierType, ItemIdentifierType> { self.current }
    /// The item of a row.
    open func itemIdentifier(for indexPath: IndexPath) -> ItemIdentifierType? { self.current.item(at: indexPath) }
    /// The row of an item.
    open func indexPath(for itemIdentifier: ItemIdentifierType) -> IndexPath? { self.current.path(of: itemIdentifier) }
    /// The section at a place (iOS 15).
    open func sectionIdentifier(for index: Int) -> SectionIdentifierType? {
        self.current.sectionIdentifiers.indices.contains(index) ? self.current.sectionIdentifiers[index] : nil
    }

    // What a table asks its data source; a subclass gives sections their titles, and says which rows can be swiped.

    open func numberOfSections(in tableView: UITableView) -> Int { self.current.sectionIdentifiers.count }
    open func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
        self.sectionIdentifier(for: section).map { self.current.itemIdentifiers(inSection: $0).count } ?? 0
    }
    open func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        guard let item = self.itemIdentifier(for: indexPath),
            let cell = self.cellProvider(tableView, indexPath, item)
        else { preconditionFailure("the cell provider must return a cell for the item at \(indexPath)") }
        return cell
    }
    open func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? { nil }
    open func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String? { nil }
    open func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool { false }
}
