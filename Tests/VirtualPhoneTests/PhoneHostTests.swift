import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsModel

@testable import VirtualPhone

/// An executable that is a process like any other but leaves its words to the test: it notes the environment it was
/// started with and sleeps. The test speaks the process's side of the link.
struct Puppet {
    let folder: TemporaryFolder
    let executable: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.executable = self.folder.path + "/puppet"
        let script = "#!/bin/sh\nenv > \"$HOME/env.new\"\nmv \"$HOME/env.new\" \"$HOME/env\"\nexec sleep 600\n"
        try script.write(toFile: self.executable, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: self.executable)
    }

    /// Starts a host of an app that does nothing.
    static func started() async throws -> (Self, PhoneHost) {
        let puppet = try Self()
        let host = try PhoneHost(configuration: puppet.configuration())
        try await host.start()
        return (puppet, host)
    }

    /// Starts a host and launches the app.
    static func launched() async throws -> (Self, PhoneHost) {
        let (puppet, host) = try await Self.started()
        try await host.perform(.launch("com.example.chat"))
        return (puppet, host)
    }

    var phoneFolder: String { self.folder.path + "/phone" }
    var home: String { self.phoneFolder + "/protected/apps/com.example.chat/home" }

    func environment(home: String? = nil) async -> [String: String] {
        let file = (home ?? self.home) + "/env"
        guard await eventually({ FileManager.default.fileExists(atPath: file) }) else { return [:] }
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        try? FileManager.default.removeItem(atPath: file)
        return Dictionary(
            text.split(separator: "\n").compactMap { line in
                line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
            }, uniquingKeysWith: { $1 })
    }

    func speak(methods: DelegateMethods = .modern, home: String? = nil) async throws -> LineConnection {
        let environment = await self.environment(home: home)
        let path = try #require(environment[PhoneEnvironment.socket])
        let connection = LineConnection(descriptor: try #require(UnixSocket.connect(path: path)))
        let token = try #require(environment[PhoneEnvironment.token])
        connection.send(
            ProcessMessage.hello(ProcessHello(token: token, methods: methods, lifecycle: .application)).json)
        return connection
    }

    func configuration(courier: Int? = nil) -> PhoneHost.Configuration {
        PhoneHost.Configuration(
            phoneID: "p1", folder: self.phoneFolder, courier: courier.map { .init(host: "127.0.0.1", port: $0) },
            apps: [
                PhoneHost.App(
                    installed: InstalledApp(
                        bundleID: "com.example.chat", lifecycle: .application, hasServiceExtension: false,
                        appGroup: "group.chat"), executable: self.executable, environment: ["FROM_TEST": "1"])
            ], controlPort: 0, answersPrompts: true)
    }
}

extension LineConnection {
    func nextCall(answering result: CallbackResult = .returned) async throws -> Callback {
        while let line = await self.next() {
            guard case .call(let number, let callback, _) = try HostMessage(json: line) else { continue }
            self.send(ProcessMessage.event(.callbackCompleted(number, result)).json)
            return callback
        }
        throw CancellationError()
    }

    func calls(_ count: Int) async throws -> [Callback] {
        var calls: [Callback] = []
        for _ in 0..<count { calls.append(try await self.nextCall()) }
        return calls
    }

    func tell(_ event: ProcessEvent) { self.send(ProcessMessage.event(event).json) }
}

@Suite struct `A phone whose apps are processes` {
    @Test func `starts an app with a home and a group of its own and calls it`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let environment = await puppet.environment()
        #expect(environment["HOME"] == puppet.home)
        #expect(environment["FROM_TEST"] == "1")
        let facts = try PhoneProcessFacts(
            json: try JSONValue(parsing: try #require(environment[PhoneEnvironment.facts])))
        #expect(facts.groups == ["group.chat": puppet.phoneFolder + "/protected/groups/group.chat"])
        #expect(FileManager.default.fileExists(atPath: puppet.phoneFolder + "/groups/group.chat"))
        #expect(facts.bundleID == "com.example.chat")
        // One store of `UserDefaults(suiteName:)` for app and extension.
        let preferences = puppet.phoneFolder + "/apps/com.example.chat/extension/.config"
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: preferences) == "../home/.config")
        await #expect(throws: InvalidField(field: "phone", rule: "is switched on already")) { try await host.start() }

        let path = try #require(environment[PhoneEnvironment.socket])
        let link = LineConnection(descriptor: try #require(UnixSocket.connect(path: path)))
        let token = try #require(environment[PhoneEnvironment.token])
        link.send(
            ProcessMessage.hello(ProcessHello(token: token, methods: .modern, lifecycle: .application)).json)
        #expect(
            try await link.calls(3) == [
                .willFinishLaunching(LaunchOptions()), .didFinishLaunching(LaunchOptions()),
                .applicationDidBecomeActive,
            ])
        await host.stop()
    }

    @Test func `stops a frozen app, keeps what is for it, and lets it run when it is tapped`() async throws {
        let puppet = try Puppet()
        let courier = try FakeCourier()
        defer { courier.close() }
        let host = try PhoneHost(configuration: puppet.configuration(courier: courier.port))
        try await host.start()
        let apns = try await courier.accepted()
        #expect(await apns.next() == ["type": "hello", "phone": "p1"])
        apns.send(["type": "welcome"])
        try await host.perform(.launch("com.example.chat"))
        let link = try await puppet.speak()
        link.tell(.delegateChanged(isSet: true))
        link.tell(.remoteRegistrationRequested)
        link.tell(.query(1, .requestAuthorization([.alert, .sound, .badge])))
        let register = try #require(await apns.next())
        #expect(
            register
                == ["type": "register", "id": 1, "topic": "com.example.chat", "environment": "sandbox"])
        let token = String(repeating: "ab", count: 32)
        apns.send([
            "type": "registered", "id": 1, "topic": "com.example.chat", "environment": "sandbox",
            "token": .string(token),
        ])
        var calls: [Callback] = []
        while calls.last != .registeredForRemoteNotifications(PushToken(token)) {
            calls.append(try await link.nextCall())
        }

        let screen = try await host.perform(.screen)
        let pid = Int(try #require(screen["apps"]?["com.example.chat"]?["pid"]?.intValue))
        try await host.perform(.freeze("com.example.chat"))
        #expect(await eventually { processState(pid) == "T" })
        apns.send([
            "type": "push", "delivery": 41, "topic": "com.example.chat", "token": .string(token), "apns_id": "a",
            "unique_id": "u", "collapse_id": "m1", "push_type": "alert", "priority": 10, "expiration": .null,
            "payload": ["aps": ["alert": "while frozen"]],
        ])
        #expect(await apns.next() == ["type": "ack", "delivery": 41])
        let list = try await host.perform(.screen)["list"]?.arrayValue
        #expect(list?.map { $0["body"]?.stringValue } == ["while frozen"])

        try await host.perform(.tap("m1"))
        #expect(await eventually { processState(pid) == "S" })
        #expect(try await link.nextCall() == .applicationWillEnterForeground)
        guard case .receiveResponse(let response) = try await link.nextCall() else {
            Issue.record("the tap was not reported")
            return
        }
        #expect(response.notification.request.identifier == "m1")
        #expect(try await link.nextCall() == .applicationDidBecomeActive)
        await host.stop()
        #expect(processState(pid) == nil)
    }

    @Test func `takes a process that dies for a crash, and starts a new one at the next launch`() async throws {
        let (puppet, host) = try await Puppet.started()
        let events = host.events()
        try await host.perform(.launch("com.example.chat"))
        let link = try await puppet.speak()
        _ = try await link.calls(3)
        let first = try await host.perform(.screen)["apps"]?["com.example.chat"]?["pid"]?.intValue
        // A process whose connection breaks has lost its phone.
        link.close()
        for await event in events where event["event"] == "process_ended" {
            #expect(event["reason"] == "crashed")
            break
        }
        #expect(try await host.perform(.screen)["apps"]?["com.example.chat"]?["state"] == "notRunning")
        try await host.perform(.launch("com.example.chat"))
        _ = try await puppet.speak()
        let second = try await host.perform(.screen)["apps"]?["com.example.chat"]?["pid"]?.intValue
        #expect(second != nil && second != first)
        await host.stop()
    }

    @Test func `ends its processes when it is switched off, also a stopped one`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let link = try await puppet.speak()
        _ = try await link.calls(3)
        let screen = try await host.perform(.screen)
        let pid = Int(try #require(screen["apps"]?["com.example.chat"]?["pid"]?.intValue))
        try await host.perform(.freeze("com.example.chat"))
        await host.stop()
        #expect(processState(pid) == nil)
        await #expect(throws: InvalidField(field: "phone", rule: "is switched off")) { try await host.perform(.home) }
    }

    @Test func `reports a declaration that is not what was installed, and a stranger on its socket`() async throws {
        let (puppet, host) = try await Puppet.started()
        let events = host.events()
        try await host.perform(.launch("com.example.chat"))
        let environment = await puppet.environment()
        let path = try #require(environment[PhoneEnvironment.socket])
        let stranger = LineConnection(descriptor: try #require(UnixSocket.connect(path: path)))
        stranger.send(ProcessMessage.hello(ProcessHello(token: "guess")).json)
        #expect(await stranger.next() == nil)
        let link = LineConnection(descriptor: try #require(UnixSocket.connect(path: path)))
        link.send(
            ProcessMessage.hello(
                ProcessHello(
                    token: try #require(environment[PhoneEnvironment.token]), methods: [], lifecycle: .application)
            ).json)
        var faults: [String] = []
        for await event in events {
            if event["event"] == "fault" { faults.append(event["text"]?.stringValue ?? "") }
            if faults.count == 2 { break }
        }
        #expect(
            faults == [
                "a process's token must be of a process that has not introduced itself",
                "VirtualApp(delegates:lifecycle:) must declare what the phone has installed:"
                    + " application(_:didReceiveRemoteNotification:fetchCompletionHandler:),"
                    + " userNotificationCenter(_:willPresent:withCompletionHandler:),"
                    + " userNotificationCenter(_:didReceive:withCompletionHandler:) is installed and not declared",
            ])
        await host.stop()
    }
}

@Suite struct `A phone that was restarted` {
    @Test(.requirement("S2.20")) func `keeps homes and groups out of reach until it is unlocked`() async throws {
        let (puppet, host) = try await Puppet.started()
        let group = puppet.phoneFolder + "/protected/groups/group.chat"
        #expect(FileManager.default.createFile(atPath: group + "/badge", contents: Data("3".utf8)))
        try await host.perform(.restart)
        #expect(FileManager.default.contents(atPath: group + "/badge") == nil)
        #expect(!FileManager.default.createFile(atPath: group + "/other", contents: Data()))
        #expect(!FileManager.default.fileExists(atPath: puppet.home))
        try await host.perform(.unlock)
        #expect(FileManager.default.contents(atPath: group + "/badge") == Data("3".utf8))
        await host.stop()
    }
}

@Suite struct `An app that is removed and installed again` {
    @Test func `finds its home and its group empty`() async throws {
        let (puppet, host) = try await Puppet.started()
        let group = puppet.phoneFolder + "/groups/group.chat"
        #expect(FileManager.default.createFile(atPath: group + "/badge", contents: Data("3".utf8)))
        #expect(FileManager.default.createFile(atPath: puppet.home + "/store", contents: Data()))
        try await host.perform(.change(.update("com.example.chat")))
        #expect(FileManager.default.fileExists(atPath: puppet.home + "/store"))
        try await host.perform(.change(.reinstall("com.example.chat")))
        #expect(!FileManager.default.fileExists(atPath: puppet.home + "/store"))
        #expect(FileManager.default.contents(atPath: group + "/badge") == nil)
        #expect(FileManager.default.fileExists(atPath: group))
        await host.stop()
    }
}

@Suite struct `The control channel of a phone` {
    @Test func `answers commands, refuses wrong ones and streams the trace`() async throws {
        let (puppet, host) = try await Puppet.started()
        let control = try LineConnection(port: try #require(host.controlPort))
        control.send(["id": 1, "do": "screen"])
        let screen = try #require(await control.next())
        #expect(screen["ok"] == true)
        #expect(screen["result"]?["lock"] == "unlocked")
        control.send(["id": 2, "do": "tap", "notification": "nope"])
        #expect(
            await control.next() == [
                "id": 2, "ok": false, "field": "notification", "rule": "is not in the list: nope",
            ])
        control.send(["id": 3, "do": "kill"])
        #expect(
            await control.next() == ["id": 3, "ok": false, "field": "app", "rule": "does not run: com.example.chat"])
        control.send(["id": 4, "do": "input", "value": 1])
        #expect(
            await control.next() == [
                "id": 4, "ok": false, "field": "app",
                "rule": "must be in the foreground to be touched: com.example.chat",
            ])
        control.send(text: "not json\n")
        #expect(
            await control.next() == [
                "id": .null, "ok": false, "field": "line", "rule": "must be one JSON object",
            ])

        control.send(["id": 5, "do": "subscribe"])
        #expect(await control.next() == ["id": 5, "ok": true, "result": .members([])])
        try await host.perform(.launch("com.example.chat"))
        let link = try await puppet.speak()
        _ = try await link.calls(3)
        link.send(ProcessMessage.screen(["Conversations", "Chat PR:alice"]).json)
        let shown = try #require(await control.next { $0["event"] == "screen" })
        #expect(shown["screen"] == ["Conversations", "Chat PR:alice"])
        #expect(shown["wall"]?.intValue ?? 0 > 1_600_000_000_000)
        #expect(try await host.perform(.screen)["front_screen"] == "Conversations > Chat PR:alice")

        control.send(["id": 6, "do": "input", "value": ["send": ["to": "bob", "text": "hi"]]])
        while let line = await link.next() {
            guard case .input(let value) = try HostMessage(json: line) else { continue }
            #expect(value == ["send": ["to": "bob", "text": "hi"]])
            break
        }
        let late = try LineConnection(port: try #require(host.controlPort))
        late.send(["id": 1, "do": "trace"])
        let events = try #require(await late.next())["result"]?["events"]?.arrayValue ?? []
        let names = events.filter { $0["event"] == "callback" }.compactMap { $0["name"]?.stringValue }
        #expect(
            names == [
                "application(_:willFinishLaunchingWithOptions:)", "application(_:didFinishLaunchingWithOptions:)",
                "applicationDidBecomeActive(_:)",
            ])
        await host.stop()
    }

    @Test func `ends the phone on quit`() async throws {
        let puppet = try Puppet()
        let host = try PhoneHost(configuration: puppet.configuration())
        let running = Task { try await host.run() }
        #expect(await eventually { host.controlPort != nil })
        let control = try LineConnection(port: try #require(host.controlPort))
        control.send(["id": 1, "do": "quit"])
        try await running.value
        #expect(host.controlPort == nil)
    }
}

@Suite struct `A phone's configuration` {
    @Test func `that cannot work is refused with the field and the rule`() throws {
        let puppet = try Puppet()
        func fault(_ change: (inout PhoneHost.Configuration) -> Void) -> InvalidField? {
            var configuration = puppet.configuration()
            change(&configuration)
            do throws(InvalidField) {
                _ = try PhoneHost(configuration: configuration)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault { _ in } == nil)
        #expect(fault { $0.phoneID = "" }?.field == "phone_id")
        #expect(fault { $0.apps = [] } == InvalidField(field: "apps", rule: "must not be empty"))
        #expect(fault { $0.apps += $0.apps }?.field == "apps.bundle_id")
        #expect(
            fault { $0.apps[0].executable = "/nonexistent" }
                == InvalidField(field: "apps.executable", rule: "must be an executable file: /nonexistent"))
        #expect(
            fault { $0.apps[0].installed.hasServiceExtension = true }
                == InvalidField(field: "apps.extension_executable", rule: "is missing for com.example.chat"))
        #expect(fault { $0.settings.backgroundTaskTime = 10 }?.field == "settings.background_task_time")
    }

    @Test func `with a port in use fails at start and leaves nothing behind`() async throws {
        let taken = try FakeCourier()
        defer { taken.close() }
        let puppet = try Puppet()
        var configuration = puppet.configuration()
        configuration.controlPort = taken.port
        let host = try PhoneHost(configuration: configuration)
        await #expect(throws: InvalidField.self) { try await host.start() }
        #expect(host.controlPort == nil)
    }
}
