import PhoneCore
import Testing
import UIKit
import VirtualPhone

private final class NameCell: UITableViewCell {
    static var made = 0
    var uses = 0

    override init(style: CellStyle, reuseIdentifier: String?) {
        super.init(style: style, reuseIdentifier: reuseIdentifier)
        Self.made += 1
    }
    required init?(coder: NSCoder) { return nil }

    override func prepareForReuse() {
        super.prepareForReuse()
        self.uses += 1
    }
}

/// Names in a table, and what it tells of them.
private final class NamesScreen: UITableViewController {
    var names = (1...40).map { "Name \($0)" }
    var lines: [String] = []
    var opened: [String] = []
    /// How often somebody has asked what a row has for a finger.
    var questions = 0
    var whenShown: (() -> Void)?
    var whenGone: (() -> Void)?
    var whenAsked: (() -> Void)?

    override func viewDidLoad() {
        super.viewDidLoad()
        self.tableView.register(NameCell.self, forCellReuseIdentifier: "name")
    }

    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { self.names.count }
    override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        self.whenAsked?()
        let cell = tableView.dequeueReusableCell(withIdentifier: "name", for: indexPath)
        cell.textLabel?.text = self.names[indexPath.row]
        return cell
    }
    override func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? { "People" }
    override func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String? { "No more" }
    override func tableView(
        _ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath
    ) {
        self.lines.append("+\(indexPath.row + 1)")
        self.whenShown?()
    }
    override func tableView(
        _ tableView: UITableView, didEndDisplaying cell: UITableViewCell, forRowAt indexPath: IndexPath
    ) {
        self.lines.append("-\(indexPath.row + 1)")
        self.whenGone?()
    }
    override func tableView(_ tableView: UITableView, willSelectRowAt indexPath: IndexPath) -> IndexPath? {
        self.names[indexPath.row] == "Name 2" ? nil : indexPath
    }
    override func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        self.opened.append(self.names[indexPath.row])
    }
    override func tableView(_ tableView: UITableView, didDeselectRowAt indexPath: IndexPath) {
        self.opened.append("not \(self.names[indexPath.row])")
    }
    override func tableView(
        _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? {
        self.questions += 1
        let delete = UIContextualAction(style: .destructive, title: "Delete") { [weak self] _, _, done in
            self?.names.remove(at: indexPath.row)
            self?.tableView.reloadData()
            done(true)
        }
        return UISwipeActionsConfiguration(actions: [delete])
    }
    override func tableView(
        _ tableView: UITableView, leadingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? {
        guard indexPath.row == 0 else { return nil }
        let pin = UIContextualAction(style: .normal, title: "Pin") { [weak self] _, _, done in
            self?.opened.append("pin")
            done(true)
        }
        return UISwipeActionsConfiguration(actions: [pin])
    }
    override func tableView(
        _ tableView: UITableView, contextMenuConfigurationForRowAt indexPath: IndexPath, point: CGPoint
    ) -> UIContextMenuConfiguration? {
        guard indexPath.row == 0 else { return nil }
        return UIContextMenuConfiguration(
            actionProvider: { [weak self] _ in
                UIMenu(children: [UIAction(title: "Copy") { self?.opened.append($0.title) }])
            })
    }
    override func scrollViewDidScroll(_ scrollView: UIScrollView) {
        self.lines.append("at \(Int(scrollView.contentOffset.y))")
    }
}

@MainActor @Suite(.serialized) struct `A table` {
    private let app = OneScreen()
    private let screen = NamesScreen(style: .plain)

    private func phone() async -> VirtualPhone {
        self.app.root = self.screen
        return await self.app.phone()
    }

    @Test func `shows a screenful, whose rows alone have cells and are told of`() async {
        NameCell.made = 0
        let phone = await self.phone()
        #expect(self.screen.lines == (1...12).map { "+\($0)" }, "before anybody looks")
        #expect(phone.rows == (1...12).map { ["Name \($0)"] })
        #expect(phone.all(.table).first?.texts.first == "People")
        #expect(phone.all(.header).map(\.text) == ["People"], "the end is further down")
        #expect(NameCell.made == 12)
        let table = self.screen.tableView
        #expect(table.contentSize.height == 1_760)
        #expect(table.indexPathsForVisibleRows == (0..<12).map { IndexPath(row: $0, section: 0) })
        #expect(table.cellForRow(at: IndexPath(row: 12, section: 0)) == nil)
        #expect(table.cellForRow(at: IndexPath(row: 3, section: 0))?.textLabel?.text == "Name 4")
    }

    @Test func `is scrolled by half a screen, and rows that come use the cells of rows that go`() async {
        NameCell.made = 0
        let phone = await self.phone()
        self.screen.lines = []
        #expect(phone.all(.table).first?.actions == [.scroll(.down)])
        #expect(await phone.touch("Name 3", .scroll(.down)))
        #expect(self.screen.lines == ["at 264"] + (1...6).map { "-\($0)" } + (13...18).map { "+\($0)" })
        #expect(phone.rows.first == ["Name 7"])
        #expect(NameCell.made == 12)
        #expect(
            self.screen.tableView.visibleCells.map { ($0 as? NameCell)?.uses } == Array(repeating: 0, count: 6)
                + Array(repeating: 1, count: 6))
        #expect(phone.all(.table).first?.actions == [.scroll(.up), .scroll(.down)])
        for _ in 1...4 { await phone.touch("People", .scroll(.down)) }
        #expect(phone.rows.last == ["Name 40"])
        #expect(phone.all(.header).map(\.text) == ["People", "No more"])
        #expect(await !phone.touch("Name 40", .scroll(.down)), "there is nothing further down")
        #expect(await phone.touch("Name 40", .swipe(.down)), "a finger pulls what is above into sight")
        #expect(phone.rows.last == ["Name 34"])
    }

    @Test func `goes where the app scrolls it`() async {
        let phone = await self.phone()
        let table = self.screen.tableView
        for (row, position, first) in [
            (39, .bottom, 29), (20, .top, 21), (20, .middle, 15), (0, .none, 1), (14, .none, 4), (5, .none, 4),
        ] as [(Int, UITableView.ScrollPosition, Int)] {
            await phone.inApp { table.scrollToRow(at: IndexPath(row: row, section: 0), at: position, animated: false) }
            #expect(phone.rows.first == ["Name \(first)"])
        }
        table.contentOffset = CGPoint(x: 0, y: 440)
        #expect(table.indexPathsForVisibleRows?.first?.row == 10)
    }

    @Test func `opens the row that is tapped, by whatever is in it, and marks it`() async {
        let phone = await self.phone()
        #expect(phone.all(.row).first?.actions == [.tap, .longPress, .named("Pin"), .named("Delete")])
        #expect(await phone.touch("Name 1"))
        #expect(phone.all(.row).map(\.isSelected).firstIndex(of: true) == 0)
        await phone.touch("Name 2")
        await phone.touch("Name 3")
        #expect(self.screen.opened == ["Name 1", "not Name 1", "Name 3"], "the second row refuses")
        let table = self.screen.tableView
        table.deselectRow(at: IndexPath(row: 2, section: 0), animated: false)
        #expect(!phone.all(.row).contains { $0.isSelected })
        table.selectRow(at: IndexPath(row: 4, section: 0), animated: false, scrollPosition: .none)
        #expect(phone.all(.row)[4].isSelected && self.screen.opened.count == 3, "the app's choice is told to nobody")
        table.allowsSelection = false
        #expect(await !phone.touch("Name 1"))
    }

    @Test func `opens what a swipe has, does it and closes, and VoiceOver does it by name`() async {
        let phone = await self.phone()
        #expect(await phone.touch("Name 2", .swipe(.left)))
        #expect(phone.rows[1] == ["Name 2", "Delete"])
        await phone.touch("Name 1", .swipe(.right))
        #expect(phone.rows[0] == ["Name 1", "Pin"])
        #expect(phone.rows[1] == ["Name 2"], "one row is open at a time")
        await phone.touch("Pin")
        #expect(self.screen.opened == ["pin"])
        #expect(phone.rows[0] == ["Name 1"])
        await phone.touch("Name 2", .swipe(.left))
        await phone.touch("Delete")
        #expect(phone.rows[1] == ["Name 3"])
        #expect(await phone.touch("Name 3", .named("Delete")))
        #expect(phone.rows[1] == ["Name 4"])
        await phone.touch("Name 4", .swipe(.left))
        await phone.touch("Name 4", .scroll(.down))
        #expect(phone.rows.allSatisfy { $0.count == 1 })
    }

    @Test func `asks once what a row has for a finger, until the rows change or somebody touches`() async {
        let phone = await self.phone()
        for _ in 1...3 { #expect(phone.all(.row).count == 12) }
        #expect(self.screen.questions == 12)
        self.screen.tableView.reloadData()
        for _ in 1...2 { _ = phone.views() }
        #expect(self.screen.questions == 24)
        await phone.touch("Name 5", .swipe(.left))
        for _ in 1...2 { _ = phone.views() }
        #expect((36...48).contains(self.screen.questions), "at the touch, and once after it: \(self.screen.questions)")
    }

    @Test func `has the rows as they are when its delegate or source changes them meanwhile`() async {
        let phone = await self.phone()
        func changeOnce(_ place: ReferenceWritableKeyPath<NamesScreen, (() -> Void)?>) {
            self.screen[keyPath: place] = { [unowned screen] in
                screen[keyPath: place] = nil
                screen.names.removeFirst()
                screen.tableView.reloadData()
            }
        }
        var first = 1
        for place in [\NamesScreen.whenGone, \.whenShown, \.whenAsked] {
            for change in [
                { self.screen.tableView.reloadData() }, { self.screen.tableView.contentOffset.y = 264 },
                { self.screen.tableView.contentOffset.y = 0 },
            ] {
                changeOnce(place)
                change()
                _ = phone.views()
                first += 1
                let offset = Int(self.screen.tableView.contentOffset.y) / 44
                #expect(phone.rows == (0..<12).map { ["Name \(first + offset + $0)"] })
                #expect(self.screen.tableView.visibleCells.count == 12)
                #expect(Set(self.screen.tableView.visibleCells.map(ObjectIdentifier.init)).count == 12)
            }
        }
    }

    @Test func `keeps the views that the app puts into it`() async {
        let phone = await self.phone()
        await phone.inApp { self.screen.tableView.addSubview(UILabel.saying("Own")) }
        await phone.touch("Name 1", .scroll(.down))
        #expect(phone.all(.table).first?.texts.last == "Own")
        self.screen.tableView.reloadData()
        #expect(phone.all(.table).first?.texts.filter { $0 == "Own" }.count == 1)
    }

    @Test func `opens the menu of a row to a finger that stays`() async {
        let phone = await self.phone()
        #expect(await phone.touch("Name 1", .longPress))
        #expect(phone.all(.menu).flatMap(\.texts) == ["Copy"])
        await phone.touch("Copy")
        #expect(self.screen.opened == ["Copy"])
        #expect(await !phone.touch("Name 2", .longPress))
    }

    @Test func `asks for its rows again when it is told to`() async {
        let phone = await self.phone()
        self.screen.names = ["Zoe"]
        self.screen.lines = []
        self.screen.tableView.reloadData()
        #expect(phone.rows == [["Zoe"]])
        #expect(self.screen.lines == (1...12).map { "-\($0)" } + ["+1"])
        self.screen.names = []
        self.screen.tableView.backgroundView = UILabel.saying("Nobody")
        self.screen.tableView.tableHeaderView = UILabel.saying("Offline")
        self.screen.tableView.reloadData()
        #expect(
            phone.views().flatMap(\.texts) == ["Nobody", "Offline", "People", "No more"],
            "a section without rows has its title all the same")
    }

    @Test func `is pulled at its top to refresh, until the app ends it`() async {
        var pulls = 0
        let phone = await self.phone()
        let control = UIRefreshControl(frame: .zero, primaryAction: UIAction { _ in pulls += 1 })
        self.screen.refreshControl = control
        #expect(phone.view("Refreshing") == nil)
        #expect(await phone.touch("Name 1", .scroll(.up)))
        #expect(pulls == 1 && control.isRefreshing)
        #expect(phone.view("Refreshing") != nil)
        #expect(await !phone.touch("Name 1", .scroll(.up)), "it is refreshing already")
        control.endRefreshing()
        #expect(phone.view("Refreshing") == nil)
        await phone.touch("Name 1", .scroll(.down))
        await phone.touch("Name 8", .scroll(.up))
        #expect(pulls == 1, "it was not at its top")
    }

    @Test func `sends the keyboard away when it is scrolled, as the app has chosen`() async {
        let phone = await self.phone()
        let field = UITextField()
        field.accessibilityLabel = "Search"
        self.screen.tableView.tableHeaderView = field
        for (mode, direction, stays) in [
            (.none, .down, true), (.onDrag, .down, false), (.interactive, .down, true), (.interactive, .up, false),
        ] as [(UIScrollView.KeyboardDismissMode, ViewAction.Direction, Bool)] {
            self.screen.tableView.contentOffset = CGPoint(x: 0, y: 264)
            self.screen.tableView.keyboardDismissMode = mode
            await phone.touch("Search")
            await phone.touch("Search", .scroll(direction))
            #expect(field.isFirstResponder == stays)
        }
    }

    @Test func `has cells of Apple's styles, with marks and views at their ends`() async {
        let cell = UITableViewCell(style: .subtitle, reuseIdentifier: nil)
        cell.textLabel?.text = "Bob"
        cell.detailTextLabel?.text = "Lunch?"
        cell.imageView?.image = UIImage(systemName: "person")
        cell.accessoryType = .checkmark
        let control = UISwitch()
        control.accessibilityLabel = "Mute Bob"
        cell.accessoryView = control
        self.app.screen.view.addSubview(cell)
        let phone = await self.app.phone()
        let row = phone.all(.row).first
        #expect(row?.children.map(\.role) == [.image, .text, .text, .switch])
        #expect(row?.isSelected == true)
        #expect(UITableViewCell(style: .default, reuseIdentifier: nil).detailTextLabel == nil)
        #expect(await phone.touch("Mute Bob"))
        #expect(control.isOn)
    }

    @Test func `stops an app that registers no class for its cells`() async {
        await #expect(processExitsWith: .failure) {
            await MainActor.run {
                _ = UITableView().dequeueReusableCell(withIdentifier: "x", for: IndexPath(row: 0, section: 0))
            }
        }
    }
}
