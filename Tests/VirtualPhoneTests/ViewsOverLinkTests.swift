import Foundation
import PhoneCore
import Testing
import TidingsModel

@testable import VirtualPhone

/// An app whose process says what it shows, and hears of touches.
struct Shown {
    static let app: BundleID = "com.example.chat"
    let puppet: Puppet
    let host: PhoneHost
    let link: LineConnection

    init(hasExtension: Bool = false) async throws {
        self.puppet = try Puppet()
        var configuration = self.puppet.configuration()
        configuration.apps[0].installed.hasServiceExtension = hasExtension
        if hasExtension { configuration.apps[0].extensionExecutable = self.puppet.executable }
        self.host = try PhoneHost(configuration: configuration)
        try await self.host.start()
        try await self.host.perform(.launch(Self.app))
        self.link = try await self.puppet.speak()
        _ = try await self.link.calls(3)
        while try await self.host.perform(.screen)["apps"]?["com.example.chat"]?["state"] != "foregroundActive" {
            await Task.yield()
        }
    }

    static let list = ViewNode(
        .window,
        children: [
            ViewNode(.text, text: "Conversations", label: "Conversations"),
            ViewNode(.row, label: "Alice, hi", actions: [.tap], children: [ViewNode(.text, text: "Alice")]),
            ViewNode(.row, actions: [.tap], children: [ViewNode(.text, text: "Bob")]),
            ViewNode(.button, text: "Edit", label: "Edit", actions: [.tap]),
        ])

    func show(_ views: [ViewNode]) async throws {
        self.link.send(ProcessMessage.views(views).json)
        while try await self.host.look().views != views { await Task.yield() }
    }

    func refusal(_ command: PhoneCommand) async -> InvalidField? {
        do throws(InvalidField) {
            try await self.host.perform(command)
            return nil
        } catch { return error }
    }

    func nextTouch() async throws -> (number: UInt64, view: String?, action: ViewAction) {
        while let line = await self.link.next() {
            if case .touch(let number, let view, let action) = try HostMessage(json: line) {
                return (number, view, action)
            }
        }
        throw CancellationError()
    }

    func answer(_ number: UInt64, _ answer: TouchAnswer) {
        self.link.send(ProcessMessage.touched(number, answer).json)
    }
}

@Suite struct `What an app in a process of its own shows` {
    @Test func `is answered, and its texts stand on the screen`() async throws {
        let shown = try await Shown()
        #expect(
            try await shown.host.perform(.views(Shown.app))
                == ["app": "com.example.chat", "number": 0, "views": []])
        try await shown.show([Shown.list])
        #expect(
            try await shown.host.perform(.views(Shown.app))
                == ["app": "com.example.chat", "number": 1, "views": [Shown.list.json]])
        #expect(try await shown.host.perform(.screen)["texts"] == ["Conversations", "Alice", "Bob", "Edit"])
        await shown.host.stop()
    }

    @Test func `is known only while the app is in the foreground`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        try await shown.host.perform(.home)
        #expect(try await shown.host.look().views == [])
        #expect(try await shown.host.perform(.screen)["texts"] == [])
        // What it said before it heard that it is in the background comes late.
        shown.link.send(ProcessMessage.views([Shown.list]).json)
        shown.link.send(ProcessMessage.log(level: "info", text: "said").json)
        while try await shown.host.perform(.trace(after: 0))["events"]?.arrayValue?.contains(where: {
            $0["event"] == "log"
        }) != true { await Task.yield() }
        #expect(try await shown.host.look().views == [])
        await shown.host.stop()
    }

    @Test func `is streamed to who asks for it: what is there, and each change with its number`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        let control = try LineConnection(port: try #require(shown.host.controlPort))
        control.send(["id": 1, "do": "subscribe", "views": true])
        #expect(await control.next() == ["id": 1, "ok": true, "result": .members([])])
        let views: (Int64, [ViewNode]) -> JSONValue = { number, views in
            [
                "event": "views", "app": "com.example.chat", "number": .int(number),
                "views": .array(views.map(\.json)),
            ]
        }
        #expect(await control.next() == views(1, [Shown.list]))
        shown.link.send(ProcessMessage.views([Shown.list]).json)
        shown.link.send(ProcessMessage.views([ViewNode(.window)]).json)
        #expect(await control.next { $0["event"] == "views" } == views(2, [ViewNode(.window)]))
        try await shown.host.perform(.home)
        #expect(await control.next { $0["event"] == "views" } == views(3, []))
        await shown.host.stop()
    }

    @Test func `is not streamed to who asks for the trace alone`() async throws {
        let shown = try await Shown()
        let control = try LineConnection(port: try #require(shown.host.controlPort))
        control.send(["id": 1, "do": "subscribe"])
        #expect(await control.next() == ["id": 1, "ok": true, "result": .members([])])
        try await shown.show([Shown.list])
        shown.link.send(ProcessMessage.log(level: "info", text: "after").json)
        #expect(await control.next()?["event"] == "log")
        await shown.host.stop()
    }

    @Test func `goes over the link as a line, also many views deep`() throws {
        let line = ProcessMessage.views([Shown.list]).line
        #expect(try ProcessMessage(line: line) == .views([Shown.list]))
        var deep = ViewNode(.text, text: "deep")
        for _ in 0..<200 { deep = ViewNode(.group, label: "g", children: [deep]) }
        #expect(try ProcessMessage(line: ProcessMessage.views([deep]).line, depthMax: 512) == .views([deep]))
    }
}

@Suite struct `A touch of an app in a process of its own` {
    private static func touch(_ view: String?, _ action: ViewAction = .tap) -> PhoneCommand {
        .touch(Shown.app, view: view, action)
    }

    @Test func `reaches it, and is done when it has answered; what it shows then is known`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        async let done = shown.host.perform(Self.touch("Message", .enter("hi")))
        let touch = try await shown.nextTouch()
        #expect(touch.view == "Message")
        #expect(touch.action == .enter("hi"))
        shown.link.send(ProcessMessage.views([ViewNode(.window)]).json)
        shown.answer(touch.number, .done)
        #expect(try await done == .members([]))
        #expect(try await shown.host.look().views == [ViewNode(.window)])
        await shown.host.stop()
    }

    @Test func `is refused with what there is instead`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        async let missing = shown.refusal(Self.touch("Sned"))
        shown.answer(try await shown.nextTouch().number, .noSuchView)
        #expect(
            await missing
                == InvalidField(
                    field: "view", rule: "is not on the screen: Sned; tap is taken by \"Alice, hi\", \"Bob\", \"Edit\"")
        )
        async let dull = shown.refusal(Self.touch("Conversations"))
        shown.answer(try await shown.nextTouch().number, .notTaken)
        #expect(
            await dull
                == InvalidField(
                    field: "action",
                    rule: "is not taken by Conversations: tap; tap is taken by \"Alice, hi\", \"Bob\", \"Edit\""
                ))
        async let nowhere = shown.refusal(Self.touch(nil, .scroll(.down)))
        shown.answer(try await shown.nextTouch().number, .notTaken)
        #expect(await nowhere == InvalidField(field: "action", rule: "is taken by no view: scroll"))
        async let nothing = shown.refusal(Self.touch("Edit", .submit))
        shown.answer(try await shown.nextTouch().number, .notTaken)
        #expect(
            await nothing
                == InvalidField(
                    field: "action", rule: "is not taken by Edit: submit; nothing on the screen takes submit"))
        await shown.host.stop()
    }

    @Test func `is refused unless the app is active and shows something`() async throws {
        let shown = try await Shown()
        let fault = { (rule: String) in InvalidField(field: "app", rule: "\(rule): com.example.chat") }
        #expect(await shown.refusal(Self.touch("Edit")) == fault("shows no views that could be touched"))
        try await shown.show([Shown.list])
        try await shown.host.perform(.overlay(isOn: true))
        #expect(
            await shown.refusal(Self.touch("Edit")) == fault("must be active to be touched, something covers it"))
        try await shown.host.perform(.overlay(isOn: false))
        try await shown.host.perform(.home)
        #expect(await shown.refusal(Self.touch("Edit")) == fault("must be in the foreground to be touched"))
        await shown.host.stop()
    }

    @Test func `is refused when the process ends, or the phone is switched off, before the answer`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        async let killed = shown.refusal(Self.touch("Edit"))
        _ = try await shown.nextTouch()
        try await shown.host.perform(.kill(Shown.app))
        #expect(
            await killed
                == InvalidField(
                    field: "app", rule: "ended before it answered a touch, which may have been done: com.example.chat"))
        await shown.host.stop()

        let again = try await Shown()
        try await again.show([Shown.list])
        async let off = again.refusal(Self.touch("Edit"))
        _ = try await again.nextTouch()
        await again.host.stop()
        #expect(
            await off
                == InvalidField(
                    field: "app", rule: "ended before it answered a touch, which may have been done: com.example.chat"))
    }

    @Test func `keeps the order of the answers on a control channel`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        let control = try LineConnection(port: try #require(shown.host.controlPort))
        control.send(text: "{\"id\":1,\"do\":\"touch\",\"view\":\"Edit\"}\n{\"id\":2,\"do\":\"views\"}\n")
        let touch = try await shown.nextTouch()
        shown.link.send(ProcessMessage.views([ViewNode(.window)]).json)
        shown.answer(touch.number, .done)
        #expect(await control.next() == ["id": 1, "ok": true, "result": .members([])])
        #expect(await control.next()?["result"]?["views"] == [ViewNode(.window).json])
        await shown.host.stop()
    }

    @Test func `may be answered by no picture where nobody draws`() async throws {
        let shown = try await Shown()
        #expect(
            await shown.refusal(.picture(columns: 54, rows: 38))
                == InvalidField(field: "do", rule: "is drawn by `tidings phone` alone: picture"))
        await shown.host.stop()
    }
}

/// Views that the test changes.
@MainActor private final class Views: ViewHosting {
    var viewTree: [ViewNode] = []
    var taken: [String] = []

    func perform(_ action: ViewAction, on name: String) -> Bool {
        guard name == "Count" else { return false }
        self.taken.append("\(action)")
        self.viewTree = [ViewNode(.button, text: "Count"), ViewNode(.text, text: "\(self.taken.count)")]
        return true
    }
}

private final class Outbox: PhoneLink {
    private let stream: AsyncStream<ProcessMessage>
    private let continuation: AsyncStream<ProcessMessage>.Continuation

    init() { (self.stream, self.continuation) = AsyncStream.makeStream(of: ProcessMessage.self) }

    func send(_ message: ProcessMessage) { self.continuation.yield(message) }
    func answer(to query: Query, number: QueryNumber) -> QueryAnswer? { nil }

    /// What was sent since the last time.
    func all() async -> [ProcessMessage] {
        self.continuation.yield(.fault("end"))
        var messages: [ProcessMessage] = []
        for await message in self.stream {
            if message == .fault("end") { break }
            messages.append(message)
        }
        return messages
    }

    func next() async -> ProcessMessage? {
        for await message in self.stream { return message }
        return nil
    }
}

@MainActor @Suite struct `An app's process` {
    private let views = Views()
    private let outbox = Outbox()
    private let process: PhoneProcess

    init() {
        let facts = PhoneProcessFacts(
            role: .app, bundleID: "com.example.chat", osVersion: "17", phoneID: "p", home: "/", groups: [:])
        self.process = PhoneProcess(facts: facts, link: self.outbox)
        self.process.setViews(self.views)
        self.process.setHandler { _, reply in reply() }
        self.process.reportViews()
    }

    @Test func `says what it shows at once in the foreground, then what changed, and nothing in the background`() async
    {
        let (one, two) = ([ViewNode(.text, text: "one")], [ViewNode(.text, text: "two")])
        self.views.viewTree = one
        #expect(await self.outbox.all() == [])
        self.process.receive(.state(.inactive))
        #expect(await self.outbox.all() == [.views(one)])
        self.process.receive(.state(.active))
        #expect(await self.outbox.all() == [])
        self.views.viewTree = two
        self.process.receive(.call(1, .applicationDidBecomeActive, .active))
        #expect(await self.outbox.all() == [.event(.callbackCompleted(1, .returned)), .views(two)])
        self.process.receive(.state(.background))
        self.views.viewTree = one
        self.process.receive(.call(2, .applicationDidEnterBackground, .background))
        #expect(await self.outbox.all() == [.event(.callbackCompleted(2, .returned))])
        self.process.receive(.state(.active))
        #expect(await self.outbox.all() == [.views(one)])
        self.process.receive(.state(.background))
        self.process.receive(.state(.active))
        #expect(await self.outbox.all() == [.views(one)], "the phone forgets what is in the background")
        self.process.kill()
    }

    @Test func `says what changed although nobody called it`() async {
        self.process.receive(.state(.active))
        #expect(await self.outbox.next() == .views([]))
        self.views.viewTree = [ViewNode(.text, text: "later")]
        #expect(await self.outbox.next() == .views([ViewNode(.text, text: "later")]))
        self.process.kill()
    }

    @Test func `answers a touch after what the touch changed`() async {
        self.process.receive(.state(.active))
        self.process.receive(.touch(3, view: "Count", .tap))
        self.process.receive(.touch(4, view: "1", .tap))
        self.process.receive(.touch(5, view: "Sned", .tap))
        self.process.receive(.touch(6, view: nil, .submit))
        #expect(
            await self.outbox.all() == [
                .views([]), .views([ViewNode(.button, text: "Count"), ViewNode(.text, text: "1")]),
                .touched(3, .done), .touched(4, .notTaken), .touched(5, .noSuchView), .touched(6, .notTaken),
            ])
        #expect(self.views.taken == ["tap"])
        self.process.kill()
    }
}

@Suite struct `A screen of an app in a process of its own` {
    private static var executable: String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("ScreenApp").path
    }

    private static func texts(_ host: PhoneHost, hold wanted: String) async throws -> Bool {
        for _ in 0..<3_000 {
            if try await host.look().views.flatMap(\.texts).contains(wanted) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test func `is read and touched from the phone, in the foreground`() async throws {
        let folder = try TemporaryFolder()
        let app: BundleID = "com.example.screen"
        let host = try PhoneHost(
            configuration: PhoneHost.Configuration(
                phoneID: "p1", folder: folder.path,
                apps: [
                    PhoneHost.App(
                        installed: InstalledApp(
                            bundleID: app, lifecycle: .application, methods: .modern, hasServiceExtension: false),
                        executable: Self.executable, environment: ["SCREEN_LABELS": "3"])
                ]))
        try await host.start()
        try await host.perform(.launch(app))
        #expect(try await Self.texts(host, hold: "0 taps"))
        #expect(try await host.look().views.flatMap(\.texts).last == "label 2")
        while try await host.perform(.screen)["apps"]?["com.example.screen"]?["state"] != "foregroundActive" {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await host.perform(.touch(app, view: "Count", .tap))
        #expect(try await host.look().views.flatMap(\.texts).first == "1 taps", "known when the touch is answered")
        try await host.perform(.touch(app, view: "Count Later", .tap))
        #expect(try await Self.texts(host, hold: "2 taps"))
        await #expect(throws: InvalidField.self) { try await host.perform(.touch(app, view: "label 1", .tap)) }
        try await host.perform(.home)
        #expect(try await host.look().views == [])
        try await host.perform(.launch(app))
        #expect(try await Self.texts(host, hold: "2 taps"))
        #expect(
            try await host.perform(.trace(after: 0))["events"]?.arrayValue?.contains { $0["event"] == "fault" } == false
        )
        await host.stop()
    }
}
