import ClientCore
import Foundation
import Requirements
import Testing

@testable import TidingsAppGroup

@Suite(.requirement("S2.16")) final class `The badge in the app group's user defaults` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
    private let reports = Locked<[ForeignBadge]>([])

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    private var defaults: any SharedDefaults { AppGroup.defaults(of: "group.chat", in: self.folder) }
    private var found: StoredNumber { self.defaults.number(forKey: "badge") }

    private func group(key: String = "badge") throws -> AppGroup {
        try AppGroup(folder: self.folder, identifier: "group.chat", badgeKey: key) { [reports] report in
            reports.withLock { $0.append(report) }
        }
    }

    @Test func `is an Int under the badge's key, and absent while there is no number`() throws {
        let group = try self.group()
        #expect(try group.update { $0.badge?.shown } == nil)
        #expect(self.found == .none)
        try group.update { $0.badge = Badge(server: 2, foreign: 1, position: 4) }
        #expect(self.found == .number(3))
        let store = BadgeStore(group: group)
        try store.increment()
        #expect(self.found == .number(4))
        try self.group(key: "other").update { $0.badge = Badge(server: 9) }
        #expect(self.found == .number(4))
        #expect(self.defaults.number(forKey: "other") == .number(9))
        try group.update { $0.badge = nil }
        #expect(self.found == .none)
        #expect(self.reports.withLock { $0 } == [])
    }

    @Test func `is what the system reads from the group's property list`() throws {
        try self.group().update { $0.badge = Badge(server: 5) }
        let file = self.folder.appendingPathComponent("Library/Preferences/group.chat.plist")
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        #expect(list as? [String: Int] == ["badge": 5])
    }

    @Test func `has no say: what other code writes there is overwritten and reported, once`() throws {
        let group = try self.group()
        try group.update { $0.badge = Badge(server: 2, position: 4) }
        self.defaults.set(7, forKey: "badge")
        #expect(try group.update { $0.badge?.shown } == 2)
        try group.update { $0.badge?.pushedByAnother(isRecall: false) }
        #expect(self.found == .number(3))
        try group.update { $0.badge?.pushedByAnother(isRecall: false) }
        #expect(self.reports.withLock { $0 } == [ForeignBadge(key: "badge", written: 7, kept: 3)])
        #expect(
            self.reports.withLock { $0.first }?.description
                == "7 was written under \"badge\" in the app group's user defaults, where the badge is only copied to; "
                + "3 stands there again: use BadgeStore to change it")
    }

    @Test func `is put right by the next process's first look`() throws {
        try self.group().update { $0.badge = Badge(server: 2) }
        self.defaults.set(7, forKey: "badge")
        _ = try self.group().update { $0.badge }
        #expect(self.found == .number(2))
        #expect(self.reports.withLock { $0.map(\.kept) } == [2])
        // A copy that was removed, or is of before there was one, is nobody's writing.
        self.defaults.set(nil, forKey: "badge")
        _ = try self.group().update { $0.badge }
        #expect(self.found == .number(2))
        #expect(self.reports.withLock { $0.count } == 1)
    }

    @Test func `is none where a number stands that nobody here has stored`() throws {
        self.defaults.set(7, forKey: "badge")
        #expect(try self.group().update { $0.badge } == nil)
        #expect(self.found == .none)
        #expect(self.reports.withLock { $0 } == [ForeignBadge(key: "badge", written: 7, kept: nil)])
    }

    @Test func `is not written where the work on the files fails`() throws {
        struct Failure: Error {}
        let group = try self.group()
        try group.update { $0.badge = Badge(server: 2) }
        #expect(throws: Failure.self) {
            try group.update { contents in
                contents.badge = Badge(server: 5)
                throw Failure()
            }
        }
        #expect(self.found == .number(2))
    }
}
