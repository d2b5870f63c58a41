import TidingsModel

/// The demo's two phones and its five steps. Each step checks what is on the phone's screen and the server's trace of the message.
final class DemoStage {
    private let site: LocalServer
    private let timeline: Timeline
    private var phones: DemoPhones?
    private var alice: DemoPhone?
    private var bob: DemoPhone?
    private var sent: [String] = []
    private let backendPort: Int?
    private let phonesPort: Int
    private(set) var backend: ExampleBackend?

    /// - Parameters:
    ///   - phonesPort: where the server expects the phones.
    ///   - backendPort: nil takes a free one.
    init(site: LocalServer, timeline: Timeline, phonesPort: Int, backendPort: Int? = nil) {
        self.site = site
        self.timeline = timeline
        self.phonesPort = phonesPort
        self.backendPort = backendPort
    }

    private static let passwords: [(user: String, password: String)] = [
        ("alice", "alice's password"), ("bob", "bob's password"),
    ]
    /// The people who can sign in, for a reader who goes on by hand.
    static var people: String { Self.passwords.map { "\($0.user), \"\($0.password)\"" }.joined(separator: "; ") }

    func open() async throws {
        self.timeline.add("server", "gateway \(self.site.gatewayPort), HTTP API \(self.site.apiPort)", reason: "ready")
        self.timeline.add(
            "local APNs", "HTTP/2 \(self.site.apnsPort), courier \(self.site.courierPort)", reason: "ready")
        let backend = try await ExampleBackend.start(
            for: self.site, port: try self.backendPort ?? freePort(), people: Self.passwords)
        self.backend = backend
        self.timeline.add("backend", backend.address, reason: "ready")
        let phones = try await DemoPhones.start(
            for: self.site, port: self.phonesPort, Self.passwords.map(\.user))
        self.phones = phones
        for person in Self.passwords {
            let phone = phones.phone(person.user)
            try await self.signIn(person.user, person.password, at: backend, on: phone)
            if person.user == "alice" { self.alice = phone } else { self.bob = phone }
        }
    }

    private func signIn(
        _ user: String, _ password: String, at backend: ExampleBackend, on phone: DemoPhone
    ) async throws {
        try await phone.command("unlock")
        try await phone.command("allow_notifications")
        try await phone.command("launch")
        try await self.wait(phone, "the app asks who signs in", seconds: 30) { Self.texts($0).contains("Sign In") }
        for (field, text) in [("User name", user), ("Password", password), ("Server", backend.address)] {
            try await phone.command(
                "touch", [("view", .string(field)), ("action", "enter"), ("text", .string(text))])
        }
        try await phone.command("touch", [("view", "Password"), ("action", "submit")])
        try await self.wait(phone, "the app connects and shows the conversations", seconds: 30) {
            Self.app($0)?["screen"]?["connection"]?.stringValue == "connected"
                && Self.texts($0).contains("Conversations")
        }
        self.timeline.add("\(user)'s phone", "signed in on the app's screen", reason: "iOS 17, connected")
    }

    func play() async throws {
        guard let alice = self.alice, let bob = self.bob else { throw ToolFailure("the phones were not started") }
        try await self.inForeground(alice, bob)
        try await self.inBackground(alice, bob)
        try await self.frozen(alice, bob)
        try await self.frozenWithoutAWord(alice, bob)
        try await self.serverKilled(alice, bob)
    }

    private func inForeground(_ alice: DemoPhone, _ bob: DemoPhone) async throws {
        self.timeline.step("bob's app is in the foreground: the message appears on the open screen")
        try await bob.command("input", [("value", ["open": "PR:alice"])])
        let mark = try await bob.mark()
        let id = try await self.send("one", from: alice)
        try await self.wait(bob, "the open chat shows the message", seconds: 10) { Self.shows(["one"], $0) }
        try await self.expectEnd(id, "settled", seconds: 10)
        try await self.expectRings(bob, id, 0, after: mark)
        self.timeline.add(
            "bob's phone", "message \(id)", shown: "on the open screen", reason: "settled, no ring, no push")
    }

    private func inBackground(_ alice: DemoPhone, _ bob: DemoPhone) async throws {
        self.timeline.step("bob's app is in the background, its connection alive: a local notification")
        try await bob.command("home")
        // Until the app knows, a message counts as arriving in the foreground.
        try await self.wait(bob, "the app runs in the background", seconds: 5) {
            Self.app($0)?["state"]?.stringValue == "backgroundRunning"
                && Self.app($0)?["screen"]?["run_state"]?.stringValue == "backgroundActive"
        }
        self.timeline.add("bob's phone", "home button", callback: "sceneDidEnterBackground")
        let mark = try await bob.mark()
        let id = try await self.send("two", from: alice)
        let shown = try await self.presentation(bob, id, after: mark, seconds: 10)
        guard shown["remote"]?.boolValue == false else { throw self.failure("a local notification", shown.text) }
        try await self.expectEnd(id, "settled", seconds: 10)
        try await self.expectRings(bob, id, 1, after: mark)
        try await self.expectNotification(bob, id, says: "two")
        self.timeline.add(
            "bob's phone", "message \(id)", shown: Self.parts(shown), callback: "add(UNNotificationRequest)",
            reason: "settled, no push")
    }

    private func frozen(_ alice: DemoPhone, _ bob: DemoPhone) async throws {
        self.timeline.step("bob's app is frozen after its background time: APNs, banner, tap")
        // The SDK hangs up some seconds before the 30 s of iOS are over.
        try await ProgressLine.during("waiting for iOS to freeze the app", usually: 26) {
            try await self.wait(bob, "the app is suspended", seconds: 60) {
                Self.app($0)?["state"]?.stringValue == "suspended"
            }
        }
        self.timeline.add("bob's phone", "the SDK hung up, iOS froze the app", reason: "background time over")
        let mark = try await bob.mark()
        let id = try await self.send("three", from: alice)
        let shown = try await self.presentation(bob, id, after: mark, seconds: 20)
        guard shown["remote"]?.boolValue == true, (shown["badge"]?.intValue ?? 0) > 0 else {
            throw self.failure("a remote notification with a badge", shown.text)
        }
        try await self.expectEnd(id, "accepted", seconds: 10)
        try await self.expectReceipt(id, seconds: 10)
        try await self.expectNotification(bob, id, says: "three")
        self.addPush(id, shown, reason: "accepted, receipt: shown")
        try await bob.command("tap", [("notification", .string(id))])
        try await self.wait(bob, "the tap opens the chat with alice, with all messages", seconds: 15) {
            Self.app($0)?["screen"]?["conversation"]?.stringValue == "PR:alice"
                && Self.shows(["one", "two", "three"], $0)
        }
        try await self.expectRings(bob, id, 1, after: mark)
        self.timeline.add(
            "bob's phone", "tap", shown: "chat with alice, 3 messages", callback: "didReceive response",
            reason: "history synced")
    }

    private func frozenWithoutAWord(_ alice: DemoPhone, _ bob: DemoPhone) async throws {
        self.timeline.step("bob's app freezes in the foreground without a word: the missed deadline turns into a push")
        try await bob.command("freeze")
        try await bob.command("home")
        self.timeline.add("bob's phone", "SIGSTOP, and nobody was told")
        let mark = try await bob.mark()
        let id = try await self.send("four", from: alice)
        let shown = try await self.presentation(bob, id, after: mark, seconds: 40)
        guard shown["remote"]?.boolValue == true else { throw self.failure("a remote notification", shown.text) }
        try await self.expectEnd(id, "accepted", seconds: 10)
        try await self.expectRings(bob, id, 1, after: mark)
        try await self.expectNotification(bob, id, says: "four")
        self.addPush(id, shown, reason: "deadline missed, accepted")
    }

    private func serverKilled(_ alice: DemoPhone, _ bob: DemoPhone) async throws {
        self.timeline.step("the server is killed right after an acknowledgement: nothing lost, doubled or rung twice")
        let mark = try await bob.mark()
        let id = try await self.send("five", from: alice)
        self.site.server?.killNow()
        self.timeline.add("server", "SIGKILL right after the ack", reason: "of \(id)")
        try await self.site.startServer()
        self.timeline.add("server", "started again on the same database", reason: "ready")
        let shown = try await self.presentation(bob, id, after: mark, seconds: 60)
        try await self.expectEnd(id, "accepted", seconds: 15)
        self.addPush(id, shown, reason: "taken up after the restart")
        try await bob.command("tap", [("notification", .string(id))])
        try await self.wait(bob, "the chat shows five messages, each once", seconds: 30) { Self.shows(Self.all, $0) }
        try await self.expectRings(bob, id, 1, after: mark)
        for earlier in self.sent.dropLast() { try await self.expectRings(bob, earlier, 0, after: mark) }
        self.timeline.add(
            "bob's phone", "tap", shown: "chat with alice, 5 messages", callback: "didReceive response",
            reason: "each message once, one ring")
    }

    func close() async {
        await self.phones?.process.stop()
        await self.backend?.process.stop()
        await self.site.stop()
    }

    private static let traceLinesShown = 15

    func printLogs() async {
        for phone in [self.alice, self.bob].compactMap({ $0 }) {
            let lines = (try? await phone.readTrace()) ?? []
            print(lines: "\nlast lines of the trace of \(phone.name):")
            for line in lines.suffix(Self.traceLinesShown) { print("    \(line.text)") }
        }
        let processes = [self.phones?.process, self.backend?.process, self.site.server, self.site.apns]
        for process in processes.compactMap({ $0 }) {
            print(lines: "\nlast lines of \(process.name):\n\(process.logTail())")
        }
    }
}

extension DemoStage {
    private func addPush(_ id: String, _ shown: JSONValue, reason: String) {
        self.timeline.add(
            "bob's phone", "message \(id) by APNs", shown: Self.parts(shown),
            callback: "didReceive(_:withContentHandler:)", reason: reason)
    }

    private func failure(_ expected: String, _ found: String) -> DemoFailure {
        DemoFailure(expected: expected, found: found)
    }

    static func app(_ screen: JSONValue) -> JSONValue? { screen["apps"]?.objectValue?.members.first?.value }

    /// Returns the texts in the app in the foreground, from top to bottom.
    static func texts(_ screen: JSONValue) -> [String] {
        screen["texts"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    private static let all = ["one", "two", "three", "four", "five"]

    /// Returns true if these messages, and no others of the demo's, stand on the screen, each once and in this order.
    static func shows(_ messages: [String], _ screen: JSONValue) -> Bool {
        Self.texts(screen).filter(Self.all.contains) == messages
    }

    static func parts(_ presentation: JSONValue) -> String {
        var parts = ["banner", "list", "sound"].filter { presentation[$0]?.boolValue == true }
        if let badge = presentation["badge"]?.intValue { parts.append("badge \(badge)") }
        return parts.joined(separator: ", ")
    }

    private func wait(
        _ phone: DemoPhone, _ expected: String, seconds: Int, _ holds: (JSONValue) -> Bool
    ) async throws {
        var screen = JSONValue.null
        for _ in 0..<(seconds * 20) {
            screen = try await phone.command("screen")
            if holds(screen) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw self.failure(expected, "\(phone.name): \(screen.text)")
    }

    /// Returns the message's id, which comes back with the server's acknowledgement.
    private func send(_ text: String, from alice: DemoPhone) async throws -> String {
        let mark = try await alice.mark()
        try await alice.command("input", [("value", ["send": ["to": "bob", "text": .string(text)]])])
        let known = self.sent
        let event = try await alice.event(after: mark, withinSeconds: 15) { event in
            guard let id = event["screen"]?["sent"]?.stringValue else { return false }
            return !known.contains(id)
        }
        guard let id = event?["screen"]?["sent"]?.stringValue else {
            throw self.failure("an acknowledgement of \"\(text)\" within 15 s", "none")
        }
        self.sent.append(id)
        self.timeline.add("alice's phone", "sends \"\(text)\" to bob", reason: "acknowledged after the sync")
        return id
    }

    private func presentation(
        _ phone: DemoPhone, _ id: String, after mark: Int, seconds: Double
    ) async throws -> JSONValue {
        let event = try await ProgressLine.during("waiting for the notification on \(phone.name)") {
            try await phone.event(after: mark, withinSeconds: seconds) { event in
                event["event"] == "presentation" && event["notification"]?.stringValue == id
            }
        }
        guard let event else { throw self.failure("a notification \(id) within \(Int(seconds)) s", "none") }
        return event
    }

    /// Expects a message's notification in Notification Centre: the sender as title, and the text.
    private func expectNotification(_ phone: DemoPhone, _ id: String, says text: String) async throws {
        let list = try await phone.command("screen")["list"]?.arrayValue ?? []
        let entry = list.first { $0["notification"]?.stringValue == id }
        guard entry?["title"]?.stringValue == "Alice", entry?["body"]?.stringValue == text else {
            throw self.failure("a notification \"Alice\", \"\(text)\"", entry?.text ?? "none of \(id) in the list")
        }
    }

    /// Rings are banners or sounds, counted from the phone's own records (design.md P3).
    private func expectRings(_ phone: DemoPhone, _ id: String, _ count: Int, after mark: Int) async throws {
        let rings = try await phone.readTrace().dropFirst(mark).filter { event in
            event["event"] == "presentation" && event["notification"]?.stringValue == id
                && event["ring"]?.boolValue == true
        }
        guard rings.count == count else {
            throw self.failure("\(counted(count, "ring")) of \(id)", "\(rings.count): \(rings.map(\.text))")
        }
    }

    /// Reads the trace of a message until `find` returns something; it throws to give up.
    private func waitForTrace<Value>(
        of id: String, _ expected: String, seconds: Int, _ find: (JSONValue) throws -> Value?
    ) async throws -> Value {
        var trace = JSONValue.null
        for _ in 0..<(seconds * 10) {
            trace = try await HTTP.json(
                "GET", "\(self.site.apiAddress)/v1/apps/\(LocalServer.app)/messages/\(id)/trace", key: self.site.apiKey)
            if let value = try find(trace) { return value }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw self.failure(expected, trace.text)
    }

    /// Waits until the extension of bob's phone has reported to the server that it has shown a message.
    private func expectReceipt(_ id: String, seconds: Int) async throws {
        _ = try await self.waitForTrace(of: id, "a receipt of \(id): shown", seconds: seconds) { trace in
            trace["receipts"]?.arrayValue?.first {
                $0["user"]?.stringValue == "bob" && $0["receipt"]?.stringValue == "shown"
            }
        }
    }

    /// Waits until the server has ended bob's leg of a message.
    private func expectEnd(_ id: String, _ end: String, seconds: Int) async throws {
        let expected = "bob's leg of \(id) ends \(end)"
        _ = try await self.waitForTrace(of: id, expected, seconds: seconds) { trace -> JSONValue? in
            let legs = trace["ended_legs"]?.arrayValue?.filter { $0["user"]?.stringValue == "bob" } ?? []
            guard let leg = legs.first else { return nil }
            guard legs.count == 1, leg["end"]?.stringValue == end else { throw self.failure(expected, trace.text) }
            return leg
        }
    }
}
