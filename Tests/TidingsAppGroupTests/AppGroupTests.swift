import ClientCore
import Foundation
import Testing
import TidingsModel

@testable import TidingsAppGroup

@Suite struct `The files an app shares with its extension` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")

    private func id(_ number: UInt64) -> MessageID { MessageID(rawValue: number) }

    @Test func `come back as they were written`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let group = try AppGroup(folder: self.folder)
        try group.update { contents in
            _ = contents.ledger.claim(self.id(1), by: .kit(process: .max), wall: 5)
            contents.ledger.markShown(self.id(2), by: .pushExtension, wall: 6)
            contents.badge = Badge(server: 4, foreign: -2, position: 9)
            contents.recipient = Recipient(tag: "t", extensionToken: "e", position: 3)
        }
        let again = try AppGroup(folder: self.folder)
        try again.update { contents in
            #expect(contents.ledger[self.id(1)] == .init(holder: .kit(process: .max), claimedAt: 5, isShown: false))
            #expect(contents.ledger[self.id(2)] == .init(holder: .pushExtension, claimedAt: 6, isShown: true))
            #expect(contents.badge == Badge(server: 4, foreign: -2, position: 9))
            #expect(contents.recipient == Recipient(tag: "t", extensionToken: "e", position: 3))
            contents.badge = nil
            contents.recipient = nil
        }
        try group.update { contents in
            #expect(contents.badge == nil)
            #expect(contents.recipient == nil)
        }
    }

    @Test func `change not at all when the work on them fails`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let group = try AppGroup(folder: self.folder)
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try group.update { contents in
                contents.badge = Badge(server: 1)
                throw Failure()
            }
        }
        #expect(try group.update { $0.badge } == nil)
    }

    @Test func `count as empty when they are damaged`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let group = try AppGroup(folder: self.folder)
        for name in ["badge.json", "ledger.json", "recipient.json"] {
            try Data("{".utf8).write(to: group.folder.appendingPathComponent(name))
        }
        try group.update { contents in
            #expect(contents.badge == nil)
            #expect(contents.ledger == Ledger())
            #expect(contents.recipient == nil)
        }
    }

    @Test func `let exactly one of many racers ring, and lose no count`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let groups = try (0..<4).map { _ in try AppGroup(folder: self.folder) }
        try groups[0].update { $0.badge = Badge(server: 0) }
        let rounds = 100
        let granted = try await withThrowingTaskGroup(of: [UInt64].self) { tasks in
            for (racer, group) in groups.enumerated() {
                let holder: Ledger.Holder = racer == 0 ? .pushExtension : .kit(process: UInt64(racer))
                tasks.addTask {
                    try (0..<UInt64(rounds)).filter { round in
                        try group.update { contents in
                            let message = MessageID(rawValue: round)
                            let verdict = contents.ledger.claim(message, by: holder, wall: 0)
                            if verdict == .granted { contents.ledger.markShown(message, by: holder, wall: 0) }
                            contents.badge?.pushedByAnother(isRecall: false)
                            return verdict == .granted
                        }
                    }
                }
            }
            return try await tasks.reduce(into: []) { $0 += $1 }
        }
        #expect(granted.sorted() == Array(0..<UInt64(rounds)))
        #expect(try groups[0].update { $0.badge?.shown } == 4 * rounds)
    }

    @Test func `keep a badge the app can count with`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let store = try BadgeStore(appGroupFolder: self.folder)
        #expect(store.value == nil)
        #expect(try store.increment() == nil)
        try store.set(2)
        #expect(try store.increment() == 3)
        #expect(try store.decrement() == 2)
        #expect(try store.decrement() == 1)
        #expect(try store.decrement() == 0)
        #expect(try store.decrement() == 0)
        try store.set(-5)
        #expect(store.value == 0)
    }

    @Test func `name a badge by the app's own key`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        try BadgeStore(appGroupFolder: self.folder, key: "one").set(1)
        #expect(try BadgeStore(appGroupFolder: self.folder, key: "two").value == nil)
        #expect(try BadgeStore(appGroupFolder: self.folder, key: "one").value == 1)
    }
}

@Suite struct `A user info` {
    @Test func `becomes JSON and back, with Booleans and numbers apart`() {
        let json: JSONValue = ["a": 1, "b": true, "c": "x", "d": ["e", 2], "f": ["g": false]]
        #expect(JSONValue(userInfo: json.userInfo) == json)
    }
}
