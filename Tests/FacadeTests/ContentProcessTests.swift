import Foundation
import PhoneCore
import Synchronization
import Testing
import TidingsModel
import VirtualPhone

private struct HostedChat {
    static let app: BundleID = "com.example.chat"
    let folder: String
    let host: PhoneHost
    private var trace: AsyncStream<JSONValue>.Iterator

    private init(extensionLinger: Int64) async throws {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("phone-\(UUID().uuidString)").path
        let beside = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        var installed = InstalledApp(
            bundleID: Self.app, lifecycle: .application, hasServiceExtension: false, appGroup: "group.com.example.chat")
        installed.methods.formUnion([.receiveRemote, .performFetch])
        installed.backgroundModes.insert(.fetch)
        installed.permittedTasks = ["com.example.chat.refresh"]
        var settings = PhoneSettings()
        settings.extensionLinger = extensionLinger
        self.host = try PhoneHost(
            configuration: PhoneHost.Configuration(
                phoneID: "p1", folder: self.folder,
                apps: [
                    PhoneHost.App(
                        installed: installed, executable: beside + "/ChatApp",
                        contentExtension: PhoneHost.ContentExtension(
                            executable: beside + "/ChatNotificationContent", categories: [PushInfo.category]),
                        environment: [
                            "CHAT_SERVER_URL": "ws://127.0.0.1:9", "CHAT_APP_KEY": "demo", "CHAT_USER": "alice",
                            "CHAT_TOKEN": "none", "CHAT_LIFECYCLE": "application",
                        ])
                ], settings: settings, answersPrompts: true))
        self.trace = self.host.events().makeAsyncIterator()
    }

    static func hosted(
        extensionLinger: Int64 = 2_000, _ body: (inout Self) async throws -> Void
    ) async throws {
        var chat = try await Self(extensionLinger: extensionLinger)
        let result: Result<Void, any Error>
        do {
            try await chat.begin()
            result = .success(try await body(&chat))
        } catch {
            result = .failure(error)
        }
        await chat.end()
        try result.get()
    }

    private mutating func begin() async throws {
        try await self.host.start()
        try await self.host.perform(.launch(Self.app))
        _ = await self.next { $0["event"] == "callback" && $0["name"]?.stringValue?.contains("FailToRegister") == true }
        // At a first sign-in the app takes out what is left of anybody before: after it, what comes stays.
        _ = await self.next { ["connecting", "waiting"].contains($0["screen"]?["connection"]?.stringValue) }
        try await self.host.perform(.setting(Self.app, .notifications, isOn: true))
        try await self.host.perform(.home)
        try await self.push("m1", "hi")
    }

    mutating func push(_ name: String, _ body: String, thread: String = "PR:bob") async throws {
        try await self.host.perform(
            .push(
                Push(
                    delivery: 0, topic: Self.app.rawValue,
                    payload: JSONObject([
                        (
                            "aps",
                            [
                                "alert": ["title": "Bob", "body": .string(body)], "thread-id": .string(thread),
                                "category": .string(PushInfo.category),
                            ]
                        ),
                        ("rc", ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"]),
                    ]), collapseID: name)))
        _ = await self.next { $0["event"] == "presentation" && $0["notification"]?.stringValue == name }
    }

    /// The next line of the trace that is meant; null when the phone is off.
    mutating func next(_ isMeant: (JSONValue) -> Bool) async -> JSONValue {
        while let line = await self.trace.next() { if isMeant(line) { return line } }
        return .null
    }

    mutating func shown() async -> JSONValue {
        await self.next { $0["event"] == "screen" && $0["role"] == "contentExtension" }["screen"] ?? .null
    }

    mutating func spawned() async throws -> Int32 {
        let line = await self.next {
            $0["event"] == "process_spawned" && $0["process"]?.stringValue?.contains("contentExtension") == true
        }
        return Int32(try #require(line["pid"]?.intValue))
    }

    mutating func appIsTold() async -> Bool {
        let line = await self.next { line in
            line["event"] == "callback" && line["role"] == "app"
                && line["name"]?.stringValue?.contains("didReceive:withCompletionHandler") == true
        }
        return line != .null
    }

    mutating func state(_ words: Set<String> = ["doNotDismiss", "dismiss", "dismissAndForwardAction"]) async -> String {
        let line = await self.next {
            $0["event"] == "content_extension" && words.contains($0["state"]?.stringValue ?? "")
        }
        return line["state"]?.stringValue ?? ""
    }

    private func end() async {
        await self.host.stop()
        try? FileManager.default.removeItem(atPath: self.folder)
    }
}

@Suite struct `A content extension in a process of its own` {
    /// The letter of a process's state (proc(5)): T is stopped.
    private func state(_ pid: Int32) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: end)...].split(separator: " ").first.map(String.init)
    }

    @Test func `shows its notification and the next of the thread, and hands an action on to the app`() async throws {
        try await HostedChat.hosted { chat in
            #expect(try await chat.host.perform(.expand("m1")) == ["expanded": true])
            let pid = try await chat.spawned()
            #expect(await chat.shown() == ["Bob: hi"])
            let environment = try String(contentsOfFile: "/proc/\(pid)/environ", encoding: .utf8)
                .split(separator: "\0")
            #expect(environment.contains("HOME=\(chat.folder)/protected/apps/com.example.chat/content"))
            let group = JSONValue.string("\(chat.folder)/protected/groups/group.com.example.chat").text
            #expect(environment.contains { $0.contains(group) }, "the group is the app's")
            try await chat.push("other", "elsewhere", thread: "PR:carol")
            try await chat.push("m2", "are you there?")
            #expect(await chat.shown() == ["Bob: hi", "Bob: are you there?"])
            let screen = try await chat.host.perform(.screen)
            #expect(screen["expanded"]?["notification"] == "m1")
            #expect(screen["expanded"]?["screen"] == ["Bob: hi", "Bob: are you there?"])
            try await chat.host.perform(.action(notification: "m1", action: "tidings.mark_read", text: nil))
            #expect(await chat.state() == "dismissAndForwardAction")
            #expect(await chat.appIsTold())
            #expect(try await chat.host.perform(.screen)["expanded"] == .null)
        }
    }

    @Test func `is stopped when it is closed, and ended a moment later`() async throws {
        let stopped = Mutex<Int32>(0)
        try await HostedChat.hosted(extensionLinger: 600_000) { chat in
            try await chat.host.perform(.expand("m1"))
            let pid = try await chat.spawned()
            _ = await chat.shown()
            try await chat.host.perform(.collapse)
            #expect(await chat.state(["collapsed"]) == "collapsed")
            #expect(await eventually { self.state(pid) == "T" })
            stopped.withLock { $0 = pid }
        }
        let pid = stopped.withLock { $0 }
        #expect(self.state(pid) == nil, "it ends with its phone")
        try await HostedChat.hosted(extensionLinger: 0) { chat in
            try await chat.host.perform(.expand("m1"))
            let pid = try await chat.spawned()
            try await chat.host.perform(.dismiss("m1"))
            #expect(await chat.state(["collapsed"]) == "collapsed")
            #expect(await eventually { self.state(pid) == nil })
        }
    }

    @Test func `that dies leaves the action to the app, with a fault`() async throws {
        try await HostedChat.hosted { chat in
            try await chat.host.perform(.expand("m1"))
            let pid = try await chat.spawned()
            _ = await chat.shown()
            kill(pid, SIGSTOP)
            try await chat.host.perform(.action(notification: "m1", action: "tidings.mark_read", text: nil))
            kill(pid, SIGKILL)
            let fault = await chat.next { $0["event"] == "fault" }
            #expect(fault["text"] == "the content extension ended while it was shown")
            #expect(await chat.state() == "dismissAndForwardAction")
            #expect(await chat.appIsTold())
        }
    }

    @Test func `is for its categories only`() async throws {
        try await HostedChat.hosted { chat in
            try await chat.host.perform(
                .push(
                    Push(
                        delivery: 0, topic: HostedChat.app.rawValue,
                        payload: JSONObject([("aps", ["alert": "plain"])]), collapseID: "p")))
            #expect(try await chat.host.perform(.expand("p")) == ["expanded": false])
            await #expect(throws: InvalidField(field: "notification", rule: "is not in the list: x")) {
                try await chat.host.perform(.expand("x"))
            }
        }
    }
}

private func eventually(_ holds: () -> Bool) async -> Bool {
    for _ in 0..<6_000 {
        if holds() { return true }
        try? await Task.sleep(for: .milliseconds(20))
    }
    return holds()
}
