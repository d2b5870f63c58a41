import Foundation
import Glibc
import PhoneCore
import Testing
import TidingsModel

@testable import VirtualPhone

@Suite struct `A process that ends` {
    private static func faults(_ host: PhoneHost) async throws -> [String] {
        let events = try await host.perform(.trace(after: 0))["events"]?.arrayValue ?? []
        return events.filter { $0["event"] == "fault" }.compactMap { $0["text"]?.stringValue }
    }

    private static func names(_ host: PhoneHost) async throws -> [String] {
        let events = try await host.perform(.trace(after: 0))["events"]?.arrayValue ?? []
        return events.compactMap { $0["event"]?.stringValue }
    }

    @Test func `by an answer may have said more in the same breath, which has no effect`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let link = try await puppet.speak()
        _ = try await link.calls(3)
        try await host.perform(.forceQuit("com.example.chat"))
        var numbers: [CallbackNumber] = []
        while let line = await link.next() {
            guard case .call(let number, let callback, _) = try HostMessage(json: line) else { continue }
            numbers.append(number)
            if callback == .applicationWillTerminate { break }
        }
        let answer = ProcessMessage.event(.callbackCompleted(try #require(numbers.last), .returned)).json.text
        let late = ProcessMessage.log(level: "info", text: "too late").json.text
        link.send(text: "\(answer)\n\(late)\nnot json\n")
        #expect(await link.next() == nil)
        let names = try await Self.names(host)
        #expect(!names.contains("log"))
        #expect(try await Self.faults(host) == [])
        await host.stop()
    }

    @Test func `by itself is heard to its last word`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let link = try await puppet.speak()
        _ = try await link.calls(3)
        let screen = try await host.perform(.screen)
        let pid = Int(try #require(screen["apps"]?["com.example.chat"]?["pid"]?.intValue))
        #expect(Glibc.kill(pid_t(pid), SIGTERM) == 0)
        while try await !Self.names(host).contains("process_died") {
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        // It is reaped; what it wrote before is still to be read.
        link.send(ProcessMessage.log(level: "info", text: "last words").json)
        link.close()
        var state: JSONValue?
        for _ in 0..<12_000 where state != "notRunning" {
            state = try await host.perform(.screen)["apps"]?["com.example.chat"]?["state"]
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        let names = try await Self.names(host).filter { ["log", "process_died", "process_ended"].contains($0) }
        #expect(names.sorted() == ["log", "process_died", "process_ended"])
        #expect(names.last == "process_ended")
        #expect(try await Self.faults(host) == [])
        await host.stop()
    }

    @Test func `before it introduced itself is not taken for a stranger`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let environment = await puppet.environment()
        try await host.perform(.kill("com.example.chat"))
        let path = try #require(environment[PhoneEnvironment.socket])
        let link = LineConnection(descriptor: try #require(UnixSocket.connect(path: path)))
        let token = try #require(environment[PhoneEnvironment.token])
        link.send(ProcessMessage.hello(ProcessHello(token: token, methods: .modern, lifecycle: .application)).json)
        #expect(await link.next() == nil)
        #expect(try await Self.faults(host) == [])
        await host.stop()
    }

    @Test func `by the phone's hand is in the trace with how it died`() async throws {
        let (puppet, host) = try await Puppet.launched()
        _ = await puppet.environment()
        let events = host.events()
        try await host.perform(.kill("com.example.chat"))
        for await event in events where event["event"] == "process_died" {
            #expect(event["how"] == "signalled(9)")
            break
        }
        await host.stop()
    }

    @Test func `sends a trigger no clock can count to, and the phone lives`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let link = try await puppet.speak()
        _ = try await link.calls(3)
        let request = NotificationRequest(
            identifier: "m", content: NotificationContent(body: "b"),
            trigger: .timeInterval(milliseconds: .max, repeats: false))
        link.tell(.query(1, .add(request)))
        while await link.next() != nil {}
        #expect(
            try await Self.faults(host) == [
                "a process's event.value.request.trigger has a number out of range: "
                    + "milliseconds must be at most 253402300799999, got 9223372036854775807"
            ])
        await host.stop()
    }
}

@Suite struct `The folders of a process` {
    @Test func `are its own for temporary files and the one it works in`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let environment = await puppet.environment()
        #expect(environment["TMPDIR"] == puppet.home + "/tmp")
        #expect(environment["PWD"] == puppet.phoneFolder + "/apps/com.example.chat/home")
        #expect(FileManager.default.createFile(atPath: puppet.home + "/tmp/draft", contents: Data()))
        try await host.perform(.change(.reinstall("com.example.chat")))
        #expect(FileManager.default.fileExists(atPath: puppet.home + "/tmp"))
        #expect(!FileManager.default.fileExists(atPath: puppet.home + "/tmp/draft"))
        await host.stop()
    }

    @Test func `share a group's defaults among its apps, as long as the group is there`() throws {
        let folder = try TemporaryFolder()
        let folders = PhoneFolders(root: folder.path)
        let chat = InstalledApp(bundleID: "com.example.chat", appGroup: "group.chat")
        let mail = InstalledApp(bundleID: "com.example.mail", appGroup: "group.chat")
        for app in [chat, mail] { try folders.make(for: app) }
        func defaults(_ app: InstalledApp, _ role: ProcessID.Role = .app) -> String {
            folders.home(of: app.bundleID, role) + "/.config/group.chat.plist"
        }
        try "<plist/>".write(toFile: defaults(chat), atomically: false, encoding: .utf8)
        try "own".write(
            toFile: folders.home(of: chat.bundleID) + "/.config/chat.plist", atomically: false,
            encoding: .utf8)
        for path in [defaults(mail), defaults(chat, .serviceExtension), defaults(mail, .contentExtension)] {
            #expect(FileManager.default.contents(atPath: path) == Data("<plist/>".utf8))
        }
        try folders.empty(chat, groupIsShared: true)
        #expect(FileManager.default.contents(atPath: defaults(chat)) == Data("<plist/>".utf8))
        #expect(
            !FileManager.default.fileExists(
                atPath: folders.home(of: chat.bundleID) + "/.config/chat.plist"))
        try folders.empty(chat, groupIsShared: false)
        #expect(FileManager.default.contents(atPath: defaults(chat)) == nil)
    }

    @Test func `take a group's defaults along that were kept with the app`() throws {
        let folder = try TemporaryFolder()
        let folders = PhoneFolders(root: folder.path)
        let app = InstalledApp(bundleID: "com.example.chat", appGroup: "group.chat")
        let old = folders.home(of: app.bundleID) + "/.config"
        try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: true)
        try "old".write(toFile: old + "/group.chat.plist", atomically: false, encoding: .utf8)
        try folders.make(for: app)
        #expect(
            FileManager.default.contents(
                atPath: folders.group("group.chat") + "/Library/Preferences/group.chat.plist") == Data("old".utf8))
    }
}

@Suite struct `A phone that is switched on again` {
    @Test func `runs until it is told to stop anew, and lets no two switch it on`() async throws {
        let puppet = try Puppet()
        let host = try PhoneHost(configuration: puppet.configuration())
        for _ in 1...2 {
            let running = Task { try await host.run() }
            #expect(await eventually { host.controlPort != nil })
            await #expect(throws: InvalidField(field: "phone", rule: "is switched on already")) {
                try await host.start()
            }
            try await host.perform(.quit)
            // The phone may be off by now.
            _ = try? await host.perform(.quit)
            try await running.value
        }
        #expect(host.controlPort == nil)
        // Nothing is left of the quits: a wait for the next one lasts until it comes.
        try await host.start()
        let waiting = Task { await host.waitUntilQuit() }
        try await host.perform(.quit)
        await waiting.value
        await host.stop()
    }
}

@Suite struct `A reader of the trace` {
    @Test func `gets every kept line it asks for, however slowly it reads, and then the new ones`() async throws {
        let (puppet, host) = try await Puppet.launched()
        let link = try await puppet.speak()
        _ = try await link.calls(3)
        // More than a connection takes at once.
        let text = String(repeating: "x", count: 4_000)
        for _ in 1...100 { link.send(ProcessMessage.log(level: "info", text: text).json) }
        var lines: [JSONValue] = []
        while lines.count(where: { $0["event"] == "log" }) < 100 {
            lines = try await host.perform(.trace(after: 0))["events"]?.arrayValue ?? []
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        let control = try LineConnection(port: try #require(host.controlPort))
        control.send(["id": 1, "do": "subscribe", "after": 0])
        #expect(await control.next()?["ok"] == true)
        for line in lines { #expect(await control.next() == line) }
        link.send(ProcessMessage.log(level: "info", text: "new").json)
        #expect(await control.next()?["n"]?.intValue == Int64(lines.count + 1))
        await host.stop()
    }
}
