public import Foundation

/// What is in a table at one time: items by section, each once. https://developer.apple.com/documentation/uikit/nsdiffabledatasourcesnapshot
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

    /// How many sections there are.
    public var numberOfSections: Int { self.sectionIdentifiers.count }
    /// How many items there are.
    public var numberOfItems: Int { self.sections.count }
    /// All items, in their order.
    public var itemIdentifiers: [ItemIdentifierType] { self.sectionIdentifiers.flatMap { self.items[$0] ?? [] } }
    /// How many items a section has.
    ///
    /// - Precondition: the section is in it (Apple throws an exception).
    public func numberOfItems(inSection identifier: SectionIdentifierType) -> Int {
        self.itemIdentifiers(inSection: identifier).count
    }
    /// The items of a section, in their order.
    ///
    /// - Precondition: the section is in it (Apple throws an exception).
    public func itemIdentifiers(inSection identifier: SectionIdentifierType) -> [ItemIdentifierType] {
        guard let items = self.items[identifier] else {
            preconditionFailure("the snapshot has no section \(identifier)")
        }
        return items
    }
    /// The section of an item; nil if it is in none.
    public func sectionIdentifier(containingItem identifier: ItemIdentifierType) -> SectionIdentifierType? {
        self.sections[identifier]
    }
    /// The place of an item among all.
    public func indexOfItem(_ identifier: ItemIdentifierType) -> Int? {
        self.sections[identifier] == nil ? nil : self.itemIdentifiers.firstIndex(of: identifier)
    }
    /// The place of a section.
    public func indexOfSection(_ identifier: SectionIdentifierType) -> Int? {
        self.sectionIdentifiers.firstIndex(of: identifier)
    }

    // MARK: Sections. That one is in it once, and that those named are in it, are preconditions (Apple throws an exception)

    /// Adds sections at the end.
    public mutating func appendSections(_ identifiers: [SectionIdentifierType]) {
        self.add(identifiers, at: self.sectionIdentifiers.count)
    }
    /// Adds sections before another.
    public mutating func insertSections(
        _ identifiers: [SectionIdentifierType], beforeSection toIdentifier: SectionIdentifierType
    ) { self.add(identifiers, at: self.place(of: toIdentifier)) }
    /// Adds sections after another.
    public mutating func insertSections(
        _ identifiers: [SectionIdentifierType], afterSection toIdentifier: SectionIdentifierType
    ) { self.add(identifiers, at: self.place(of: toIdentifier) + 1) }
    /// Takes sections away, with their items; those that are not there are ignored.
    public mutating func deleteSections(_ identifiers: [SectionIdentifierType]) {
        for identifier in identifiers {
            self.deleteItems(self.items[identifier] ?? [])
            self.items[identifier] = nil
            self.sectionIdentifiers.removeAll { $0 == identifier }
        }
    }
    /// Has the cells of sections made again.
    public mutating func reloadSections(_ identifiers: [SectionIdentifierType]) {
        self.reloadItems(identifiers.flatMap { self.itemIdentifiers(inSection: $0) })
    }

    private mutating func add(_ identifiers: [SectionIdentifierType], at place: Int) {
        for identifier in identifiers {
            precondition(self.items[identifier] == nil, "the snapshot has the section \(identifier) already")
            self.items[identifier] = []
        }
        self.sectionIdentifiers.insert(contentsOf: identifiers, at: place)
    }

    private func place(of section: SectionIdentifierType) -> Int {
        guard let place = self.indexOfSection(section) else {
            preconditionFailure("the snapshot has no section \(section)")
        }
        return place
    }

    // MARK: Items

    /// Adds items at the end of a section: of the last one if none is named.
    public mutating func appendItems(
        _ identifiers: [ItemIdentifierType], toSection sectionIdentifier: SectionIdentifierType? = nil
    ) {
        guard let section = sectionIdentifier ?? self.sectionIdentifiers.last else {
            preconditionFailure("items need a section: append one first")
        }
        self.add(identifiers, to: section, at: self.items[section]?.count ?? 0)
    }
    /// Adds items before another.
    public mutating func insertItems(
        _ identifiers: [ItemIdentifierType], beforeItem beforeIdentifier: ItemIdentifierType
    ) { self.add(identifiers, beside: beforeIdentifier, by: 0) }
    /// Adds items after another.
    public mutating func insertItems(
        _ identifiers: [ItemIdentifierType], afterItem afterIdentifier: ItemIdentifierType
    ) { self.add(identifiers, beside: afterIdentifier, by: 1) }
    /// Takes items away; those that are not there are ignored.
    public mutating func deleteItems(_ identifiers: [ItemIdentifierType]) {
        let gone = Set(identifiers)
        for section in Set(gone.compactMap { self.sections[$0] }) {
            self.items[section]?.removeAll { gone.contains($0) }
        }
        for identifier in gone { self.sections[identifier] = nil }
        self.reloadedItemIdentifiers.removeAll { gone.contains($0) }
        self.reconfiguredItemIdentifiers.removeAll { gone.contains($0) }
    }
    /// Takes everything away.
    public mutating func deleteAllItems() { self = NSDiffableDataSourceSnapshot() }
    /// Puts an item before another.
    public mutating func moveItem(_ identifier: ItemIdentifierType, beforeItem toIdentifier: ItemIdentifierType) {
        self.move(identifier, beside: toIdentifier, by: 0)
    }
    /// Puts an item after another.
    public mutating func moveItem(_ identifier: ItemIdentifierType, afterItem toIdentifier: ItemIdentifierType) {
        self.move(identifier, beside: toIdentifier, by: 1)
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

    private mutating func move(_ item: ItemIdentifierType, beside other: ItemIdentifierType, by distance: Int) {
        self.check([item])
        let (reloaded, reconfigured) = (self.reloadedItemIdentifiers, self.reconfiguredItemIdentifiers)
        self.deleteItems([item])
        self.add([item], beside: other, by: distance)
        (self.reloadedItemIdentifiers, self.reconfiguredItemIdentifiers) = (reloaded, reconfigured)
    }

    private mutating func add(
        _ identifiers: [ItemIdentifierType], beside other: ItemIdentifierType, by distance: Int
    ) {
        guard let section = self.sections[other], let place = self.items[section]?.firstIndex(of: other) else {
            preconditionFailure("the snapshot has no item \(other)")
        }
        self.add(identifiers, to: section, at: place + distance)
    }

    private mutating func add(_ identifiers: [ItemIdentifierType], to section: SectionIdentifierType, at place: Int) {
        precondition(self.items[section] != nil, "the snapshot has no section \(section)")
        for identifier in identifiers {
            precondition(self.sections[identifier] == nil, "the snapshot has the item \(identifier) already")
            self.sections[identifier] = section
        }
        self.items[section]?.insert(contentsOf: identifiers, at: place)
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
            guard let item = Self.item(at: path, in: old), !reloaded.contains(item) else { return nil }
            return self.indexPath(for: item)
        }
        for item in snapshot.reconfiguredItemIdentifiers where !reloaded.contains(item) {
            if let path = self.indexPath(for: item) { self.table?.reconfigure(path) }
        }
        if self.table?.window != nil { self.table?.layoutIfNeeded() }
        completion?()
    }

    /// Brings the table to what a snapshot says, with all cells made again (iOS 15).
    open func applySnapshotUsingReloadData(
        _ snapshot: NSDiffableDataSourceSnapshot<SectionIdentifierType, ItemIdentifierType>,
        completion: (() -> Void)? = nil
    ) {
        self.current = snapshot
        self.current.forgetReloads()
        self.table?.reloadData()
        completion?()
    }

    /// What is in the table.
    open func snapshot() -> NSDiffableDataSourceSnapshot<SectionIdentifierType, ItemIdentifierType> { self.current }
    /// The item of a row.
    open func itemIdentifier(for indexPath: IndexPath) -> ItemIdentifierType? {
        Self.item(at: indexPath, in: self.current)
    }
    /// The row of an item.
    open func indexPath(for itemIdentifier: ItemIdentifierType) -> IndexPath? {
        guard let section = self.current.sectionIdentifier(containingItem: itemIdentifier),
            let place = self.current.indexOfSection(section),
            let row = self.current.itemIdentifiers(inSection: section).firstIndex(of: itemIdentifier)
        else { return nil }
        return IndexPath(row: row, section: place)
    }
    /// The section at a place (iOS 15).
    open func sectionIdentifier(for index: Int) -> SectionIdentifierType? {
        self.current.sectionIdentifiers.indices.contains(index) ? self.current.sectionIdentifiers[index] : nil
    }
    /// The place of a section (iOS 15).
    open func index(for sectionIdentifier: SectionIdentifierType) -> Int? {
        self.current.indexOfSection(sectionIdentifier)
    }

    private static func item(at path: IndexPath, in snapshot: Snapshot) -> ItemIdentifierType? {
        guard snapshot.sectionIdentifiers.indices.contains(path.section) else { return nil }
        let items = snapshot.itemIdentifiers(inSection: snapshot.sectionIdentifiers[path.section])
        return items.indices.contains(path.row) ? items[path.row] : nil
    }

    // What a table asks its data source; a subclass gives sections their titles, and says which rows can be swiped.

    open func numberOfSections(in tableView: UITableView) -> Int { self.current.numberOfSections }
    open func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
        self.sectionIdentifier(for: section).map { self.current.numberOfItems(inSection: $0) } ?? 0
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
