import ClientCore
import Foundation
import Requirements
import Testing
import TidingsModel

@testable import TidingsAppGroup

@Suite final class `The files an app shares with its extension` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    private func id(_ number: UInt64) -> MessageID { MessageID(rawValue: number) }

    @Test func `come back as they were written`() throws {
        let group = try AppGroup(folder: self.folder)
        try group.update { contents in
            _ = contents.ledger.claim(self.id(1), by: .kit(process: .max), wall: 5)
            contents.ledger.markShown(self.id(2), by: .pushExtension, wall: 6)
            contents.ledger.markRecalled(self.id(4), by: .kit(process: 3), wall: 7)
            contents.badge = Badge(server: 4, foreign: -2, position: 9)
            contents.recipient = Recipient(tag: "t", extensionToken: "e", position: 3)
        }
        let again = try AppGroup(folder: self.folder)
        try again.update { contents in
            #expect(contents.ledger[self.id(1)] == .init(holder: .kit(process: .max), claimedAt: 5, isShown: false))
            #expect(contents.ledger[self.id(2)] == .init(holder: .pushExtension, claimedAt: 6, isShown: true))
            #expect(
                contents.ledger[self.id(4)]
                    == .init(holder: .kit(process: 3), claimedAt: 7, isShown: true, isRecalled: true))
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

    @Test func `are set aside when they are damaged, and say so once`() throws {
        let group = try AppGroup(folder: self.folder)
        try group.update { contents in
            _ = contents.ledger.claim(self.id(1), by: .pushExtension, wall: 0)
            contents.badge = Badge(server: 1)
            contents.recipient = Recipient(tag: "t", extensionToken: "e", position: 3)
            contents.settings.showsContent = false
        }
        let names = ["badge-badge.record", "ledger.records", "recipient.json", "settings.json"]
        for name in names { try Data("{".utf8 + Array(repeating: 1, count: 40)).write(to: group.file(name)) }
        let again = try AppGroup(folder: self.folder)
        try again.update { contents in
            #expect(contents.damaged == [.badge, .ledger, .recipient, .settings])
            #expect(contents.signIn == .unknown)
            #expect(contents.badge == nil)
        }
        try group.update { #expect($0.damaged == []) }
        for name in names { #expect(FileManager.default.fileExists(atPath: group.file(name).path + ".damaged")) }
        try group.update { $0.badge = Badge(server: 2) }
        #expect(try again.update { $0.badge } == Badge(server: 2))
    }

    @Test func `that were set aside go with the person whose token stands in them`() throws {
        let group = try AppGroup(folder: self.folder)
        try group.update { $0.recipient = Recipient(tag: "t", extensionToken: "e-token", position: 3) }
        // One byte turned over.
        let file = group.file("recipient.json")
        var bytes = try Data(contentsOf: file)
        bytes[0] ^= 1
        try bytes.write(to: file)
        try group.update { #expect($0.damaged == [.recipient]) }
        let aside = file.path + ".damaged"
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside)).range(of: Data("e-token".utf8)) != nil)
        // Another process, later.
        try AppGroup(folder: self.folder).update { contents in
            contents.recipient = nil
            contents.forgetsDamaged = true
        }
        #expect(!FileManager.default.fileExists(atPath: aside))
        try group.update { $0.forgetsDamaged = true }
    }

    @Test func `can be read from the first unlock on, and are in no backup`() throws {
        try AppGroup(folder: self.folder).update { $0.badge = Badge(server: 1) }
        let safety = SafetyNotes()
        let group = try AppGroup(folder: self.folder, safety: safety)
        let names = ["", "/badge-badge.record", "/lock"]
        #expect(
            safety.lines.withLock { $0 }
                == names.map { "\(group.folder.path)\($0) completeUntilFirstUserAuthentication" }
                + ["\(group.folder.path) is not backed up"])
    }

    @Test func `read a ledger that was written before there was a mark for what is recalled`() throws {
        let group = try AppGroup(folder: self.folder)
        // Records as they were written then: shown by the extension, claimed by process 5 of the app, and one given back.
        let records = [
            "54011200010000000000000006000000000000000000000000000000f307535b",
            "540101000200000000000000070000000000000005000000000000001473851b",
            "54010000030000000000000000000000000000000000000000000000e620723a",
        ]
        try Data(records.flatMap { $0.bytes }).write(to: group.file("ledger.records"))
        try group.update { contents in
            #expect(contents.damaged == [])
            #expect(contents.ledger.all.map(\.message) == [self.id(1), self.id(2)])
            #expect(contents.ledger[self.id(1)] == .init(holder: .pushExtension, claimedAt: 6, isShown: true))
            #expect(contents.ledger[self.id(2)] == .init(holder: .kit(process: 5), claimedAt: 7, isShown: false))
            contents.ledger.markRecalled(self.id(2), by: .pushExtension, wall: 8)
        }
        #expect(
            try AppGroup(folder: self.folder).update { $0.ledger[self.id(2)] }
                == .init(holder: .kit(process: 5), claimedAt: 7, isShown: true, isRecalled: true))
    }

    @Test func `keep the ledger's records up to the damage, and lose only the last one of a torn write`() throws {
        let group = try AppGroup(folder: self.folder)
        try group.update { contents in
            for number in UInt64(1)...3 { _ = contents.ledger.claim(self.id(number), by: .pushExtension, wall: 0) }
        }
        let file = group.file("ledger.records")
        try Data(Data(contentsOf: file).dropLast(7)).write(to: file)
        try AppGroup(folder: self.folder).update { contents in
            #expect(contents.damaged == [])
            #expect(contents.ledger.all.map(\.message) == [self.id(1), self.id(2)])
            _ = contents.ledger.claim(self.id(4), by: .pushExtension, wall: 0)
        }
        var bytes = try Data(contentsOf: file)
        bytes[33] ^= 0x10
        try bytes.write(to: file)
        try AppGroup(folder: self.folder).update { contents in
            #expect(contents.damaged == [.ledger])
            #expect(contents.ledger.all.map(\.message) == [self.id(1)])
        }
    }

    @Test func `are read anew when another ledger has taken the place of the known one under its number`() throws {
        let other = self.folder.appendingPathExtension("other")
        defer { try? FileManager.default.removeItem(at: other) }
        let group = try AppGroup(folder: self.folder)
        try group.update { _ = $0.ledger.claim(self.id(1), by: .pushExtension, wall: 0) }
        let another = try AppGroup(folder: other)
        try another.update { contents in
            for number in UInt64(2)...3 { _ = contents.ledger.claim(self.id(number), by: .pushExtension, wall: 0) }
        }
        let handle = try FileHandle(forUpdating: group.file("ledger.records"))
        try handle.write(contentsOf: Data(contentsOf: another.file("ledger.records")))
        try handle.close()
        #expect(try group.update { $0.ledger.all.map(\.message) } == [self.id(2), self.id(3)])
    }

    @Test func `say who is signed in only if the app has said it`() throws {
        let group = try AppGroup(folder: self.folder)
        #expect(try group.update { $0.signIn } == .unknown)
        try group.update { $0.recipient = nil }
        #expect(try AppGroup(folder: self.folder).update { $0.signIn } == .signedOut)
        try group.update { $0.recipient = Recipient(tag: "t", extensionToken: "e", position: 3) }
        #expect(try AppGroup(folder: self.folder).update { $0.signIn } == .signedIn(recipientTag: "t"))
    }

    @Test func `are not waited for longer than the limit`() throws {
        let group = try AppGroup(folder: self.folder, lockMilliseconds: 20)
        let other = try AppGroup(folder: self.folder)
        let path = group.file("lock").path
        try other.update { _ in
            _ = #expect(throws: FileFault(path: path, work: .lock, code: ETIMEDOUT)) {
                try group.update { $0.badge = Badge(server: 1) }
            }
        }
        #expect(try group.update { $0.badge } == nil)
    }

    @Test func `are touched only while the system does not suspend the process`() throws {
        let guardian = GuardDouble()
        let group = try AppGroup(folder: self.folder, suspension: guardian)
        try group.update { contents in
            #expect(guardian.state.withLock { $0.isHeld })
            contents.badge = Badge(server: 1)
        }
        guardian.state.withLock { $0.isGranted = false }
        #expect(throws: FileFault(path: group.folder.path, work: .staying, code: 0)) {
            try group.update { $0.badge = Badge(server: 2) }
        }
        guardian.state.withLock { $0.isGranted = true }
        #expect(try group.update { $0.badge } == Badge(server: 1))
        #expect(!guardian.state.withLock { $0.isHeld })
    }

    @Test func `keep the names the app has given, the newest first to stay`() throws {
        var settings = SharedSettings()
        settings.remember("Bob", for: .user("bob"))
        settings.remember("Robert", for: .user("bob"))
        #expect(settings[name: .user("bob")] == "Robert")
        #expect(settings[name: .conversation(ConversationID(type: .group, target: "bob"))] == nil)
        for number in 0..<SharedSettings.namesMax { settings.remember("x", for: .user(UserID("u\(number)"))) }
        #expect(settings[name: .user("bob")] == nil)
        #expect(SharedSettings(json: settings.json) == settings)
    }

    @Test func `keep what notifications say, and say it in English as long as the app has said nothing`() throws {
        var settings = SharedSettings()
        #expect(SharedSettings(json: settings.json)?.words == nil)
        settings.words = .simplifiedChinese
        #expect(SharedSettings(json: settings.json) == settings)
        let group = try AppGroup(folder: self.folder)
        #expect(try group.update { $0.words } == .english)
        try group.update { $0.settings = settings }
        #expect(try group.update { $0.words } == .simplifiedChinese)
        #expect(SharedSettings(json: ["shows_content": true, "names": [], "words": ["other": "x"]])?.words == nil)
    }

    @Test func `let exactly one of many racers ring, and lose no count`() async throws {
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

    @Test(.requirement("S2.18", "S2.11")) func `keep a badge the app can count with`() throws {
        let store = try BadgeStore(appGroupFolder: self.folder)
        #expect(store.value == 0)
        #expect(store.storedValue == nil)
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

    @Test(.requirement("S2.14")) func `name a badge by the app's own key, and say when app and extension differ`()
        throws
    {
        let one = try BadgeStore(appGroupFolder: self.folder, key: "one")
        try one.set(1)
        let two = try BadgeStore(appGroupFolder: self.folder, key: "two")
        #expect(two.storedValue == nil)
        #expect(two.problem == .storedUnderAnotherKey(expected: "two", found: ["one"]))
        #expect(one.problem == nil)
        #expect(try BadgeStore(appGroupFolder: self.folder, key: "one").value == 1)
        for key in ["", "a/b", "../x", String(repeating: "k", count: 65), "ä"] {
            #expect(throws: BadgeStoreProblem.invalidKey(key)) {
                try BadgeStore(appGroupFolder: self.folder, key: key)
            }
        }
    }

    @Test func `cannot be used where the container is none`() throws {
        try Data().write(to: self.folder)
        #expect(throws: BadgeStoreProblem.self) { try BadgeStore(appGroupFolder: self.folder) }
    }
}

private final class GuardDouble: SuspensionGuard {
    struct State {
        var isGranted = true
        var isHeld = false
    }
    let state = Locked(State())

    func run(_ work: () -> Void) -> Bool {
        guard self.state.withLock({ $0.isGranted }) else { return false }
        self.state.withLock { $0.isHeld = true }
        work()
        self.state.withLock { $0.isHeld = false }
        return true
    }
}

extension String {
    fileprivate var bytes: [UInt8] {
        var rest = Substring(self)
        var bytes: [UInt8] = []
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

extension AppGroup {
    fileprivate func file(_ name: String) -> URL { self.folder.appendingPathComponent(name) }
}

@Suite struct `A user info` {
    @Test func `becomes JSON and back, with Booleans and numbers apart`() {
        let json: JSONValue = ["a": 1, "b": true, "c": "x", "d": ["e", 2], "f": ["g": false]]
        #expect(JSONValue(userInfo: json.userInfo) == json)
    }
}

private final class SafetyNotes: FileSafety {
    let lines = Locked<[String]>([])
    func protect(_ path: String, as protection: FileProtectionClass) throws {
        self.lines.withLock { $0.append("\(path) \(protection)") }
    }
    func excludeFromBackup(_ path: String) throws { self.lines.withLock { $0.append("\(path) is not backed up") } }
}
