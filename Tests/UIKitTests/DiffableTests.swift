import PhoneCore
import Testing
import UIKit
import VirtualPhone

private typealias Snapshot = NSDiffableDataSourceSnapshot<String, Int>

/// Sections by name.
private final class Named: UITableViewDiffableDataSource<String, Int> {
    override func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? {
        self.sectionIdentifier(for: section)
    }
    var canEdit: [Int] = []
    override func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool {
        self.itemIdentifier(for: indexPath).map(self.canEdit.contains)
            ?? super.tableView(tableView, canEditRowAt: indexPath)
    }
}

@MainActor @Suite struct `A table of items` {
    private let app = OneScreen()
    private let table = UITableView(frame: .zero, style: .plain)

    private func source(_ fill: @escaping (UITableViewCell, Int) -> Void = { $0.textLabel?.text = "\($1)" }) -> Named {
        self.table.register(UITableViewCell.self, forCellReuseIdentifier: "item")
        self.app.screen.view.addSubview(self.table)
        return Named(tableView: self.table) { table, path, item in
            let cell = table.dequeueReusableCell(withIdentifier: "item", for: path)
            fill(cell, item)
            return cell
        }
    }

    private func snapshot(_ items: [Int], _ more: [Int]? = nil) -> Snapshot {
        var snapshot = Snapshot()
        snapshot.appendSections(["today"])
        snapshot.appendItems(items)
        if let more {
            snapshot.appendSections(["before"])
            snapshot.appendItems(more)
        }
        return snapshot
    }

    @Test func `shows what a snapshot says, section by section, and finds rows by items`() async {
        let source = self.source()
        let phone = await self.app.phone()
        await phone.inApp { source.apply(self.snapshot([1, 2], [3])) }
        #expect(phone.rows == [["1"], ["2"], ["3"]])
        #expect(phone.all(.header).map(\.text) == ["today", "before"])
        #expect(source.indexPath(for: 3) == IndexPath(row: 0, section: 1))
        #expect(source.indexPath(for: 4) == nil)
        #expect(source.itemIdentifier(for: IndexPath(row: 1, section: 0)) == 2)
        #expect(source.itemIdentifier(for: IndexPath(row: 2, section: 0)) == nil)
        #expect(source.snapshot().itemIdentifiers == [1, 2, 3])
    }

    @Test func `keeps the cells of items that move, and makes those of reloaded ones again`() async {
        var filled: [Int] = []
        let source = self.source { cell, item in
            filled.append(item)
            cell.textLabel?.text = "\(item)"
        }
        let phone = await self.app.phone()
        await phone.inApp { source.apply(self.snapshot([1, 2, 3])) }
        let cells = self.table.visibleCells
        filled = []
        await phone.inApp { source.apply(self.snapshot([0, 3, 1])) }
        #expect(filled == [0])
        #expect(phone.rows == [["0"], ["3"], ["1"]])
        #expect(self.table.visibleCells[1] === cells[2] && self.table.visibleCells[2] === cells[0])
        var next = source.snapshot()
        next.reconfigureItems([3])
        next.reloadItems([1])
        filled = []
        await phone.inApp { source.apply(next) }
        #expect(filled == [3, 1])
        #expect(self.table.visibleCells[1] === cells[2], "a reconfigured item keeps its cell")
        #expect(source.snapshot().reconfiguredItemIdentifiers == [])
    }

    @Test func `is there when the snapshot is applied, and scrolls at once`() async {
        let source = self.source()
        let phone = await self.app.phone()
        await phone.inApp {
            var isApplied = false
            source.apply(self.snapshot(Array(1...30)), animatingDifferences: false) { isApplied = true }
            #expect(isApplied && self.table.visibleCells.count == 12)
            self.table.scrollToRow(at: IndexPath(row: 29, section: 0), at: .bottom, animated: false)
            #expect(self.table.indexPathsForVisibleRows?.last?.row == 29)
        }
        #expect(phone.rows.last == ["30"])
        await phone.inApp { source.apply(self.snapshot([1, 2])) }
        #expect(phone.rows == [["1"], ["2"]], "what is scrolled beyond the end comes back")
    }

    @Test func `has snapshots that say what is in them`() {
        var snapshot = self.snapshot([1, 2], [4])
        snapshot.appendItems([3], toSection: "today")
        #expect(snapshot.sectionIdentifiers == ["today", "before"])
        #expect(snapshot.itemIdentifiers == [1, 2, 3, 4])
        #expect(snapshot.itemIdentifiers(inSection: "before") == [4])
        #expect(snapshot.indexOfItem(4) == 3 && snapshot.indexOfItem(5) == nil)
    }

    @Test func `lets those rows be swiped alone that its source says`() async {
        final class Swipes: UITableViewDelegate {
            func tableView(
                _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
            ) -> UISwipeActionsConfiguration? {
                UISwipeActionsConfiguration(actions: [UIContextualAction(style: .normal, title: "Pin") { $2(true) }])
            }
        }
        let (source, delegate) = (self.source(), Swipes())
        self.table.delegate = delegate
        source.canEdit = [2]
        let phone = await self.app.phone()
        await phone.inApp { source.apply(self.snapshot([1, 2])) }
        #expect(phone.all(.row).map(\.actions) == [[.tap], [.tap, .named("Pin")]])
        #expect(await phone.touch("2", .swipe(.left)))
        #expect(phone.rows == [["1"], ["2", "Pin"]])
        let plain = UITableViewDiffableDataSource<String, Int>(tableView: self.table) { _, _, _ in nil }
        #expect(!plain.tableView(self.table, canEditRowAt: IndexPath(row: 0, section: 0)), "as Apple's")
    }

    @Test(arguments: 0..<4) func `stops an app that names a section or an item that is not in it`(place: Int) async {
        await #expect(processExitsWith: .failure) { [place] in
            var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
            snapshot.appendSections(["one"])
            snapshot.appendItems([1])
            switch place {
            case 0: snapshot.appendItems([2], toSection: "two")
            case 1: _ = snapshot.itemIdentifiers(inSection: "two")
            case 2: snapshot.reloadItems([2])
            default: snapshot.reconfigureItems([2])
            }
        }
    }

    @Test func `stops an app that puts an item in twice`() async {
        await #expect(processExitsWith: .failure) {
            var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
            snapshot.appendSections(["one"])
            snapshot.appendItems([1, 1])
        }
    }
}
