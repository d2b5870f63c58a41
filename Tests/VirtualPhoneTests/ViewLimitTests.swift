import Foundation
import Glibc
import PhoneCore
import Testing
import TidingsModel

@testable import VirtualPhone

@Suite struct `What a process may say of views, and a control channel ask` {
    private static func faults(_ host: PhoneHost) async throws -> [String] {
        let events = try await host.perform(.trace(after: 0))["events"]?.arrayValue ?? []
        return events.filter { $0["event"] == "fault" }.compactMap { $0["text"]?.stringValue }
    }

    @Test func `is that of apps alone`() async throws {
        let shown = try await Shown(hasExtension: true)
        try await shown.show([Shown.list])
        // A phone takes no push for an app that has not asked for its token.
        shown.link.tell(.remoteRegistrationRequested)
        shown.link.tell(.query(1, .requestAuthorization([.alert])))
        _ = await shown.link.next { $0["type"] == "answer" }
        let payload: JSONValue = ["aps": ["alert": "hi", "mutable-content": 1]]
        try await shown.host.perform(
            .push(
                Push(
                    delivery: 0, topic: Shown.app.rawValue, payload: try #require(payload.objectValue),
                    pushType: "alert")))
        let home = shown.puppet.phoneFolder + "/protected/apps/com.example.chat/extension"
        let link = try await shown.puppet.speak(home: home)
        link.send(ProcessMessage.views([ViewNode(.window)]).json)
        while await link.next() != nil {}
        let faults = try await Self.faults(shown.host)
        #expect(faults.count == 1 && faults[0].contains("must be said by an app only: views"), "\(faults)")
        #expect(try await shown.host.look().views == [Shown.list])
        await shown.host.stop()
    }

    @Test func `is not deeper than the phone reads`() async throws {
        let shown = try await Shown()
        var deep = ViewNode(.text, text: "deep")
        for _ in 0..<300 { deep = ViewNode(.group, label: "g", children: [deep]) }
        shown.link.send(ProcessMessage.views([deep]).json)
        while await shown.link.next() != nil {}
        let faults = try await Self.faults(shown.host)
        #expect(faults.count == 1 && faults[0].contains("512"), "\(faults)")
        #expect(try await shown.host.look().views == [])
        await shown.host.stop()
    }

    @Test func `reaches a slow reader as the newest, and not all that was shown in between`() async throws {
        let shown = try await Shown()
        // Nobody reads it yet, and little fits in.
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var room: Int32 = 4_096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        var address = loopback(port: try #require(shown.host.controlPort))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(result == 0)
        UnixSocket.write(Array("{\"do\":\"subscribe\",\"views\":true}\n".utf8), to: descriptor)
        let text = String(repeating: "x", count: 400_000)
        let last: Int64 = 24
        for number in 1...last {
            shown.link.send(ProcessMessage.views([ViewNode(.text, text: "\(number) \(text)")]).json)
            while try await shown.host.perform(.views(Shown.app))["number"]?.intValue != number {
                await Task.yield()
            }
        }
        let reader = LineConnection(descriptor: descriptor)
        var numbers: [Int64] = []
        var newest: String?
        while numbers.last != last, let line = await reader.next() {
            guard line["event"] == "views", let number = line["number"]?.intValue else { continue }
            numbers.append(number)
            newest = line["views"]?.arrayValue?.first?["text"]?.stringValue
        }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(numbers.count < 24, "\(numbers)")
        #expect(newest?.hasPrefix("24 ") == true)
        await shown.host.stop()
    }

    @Test func `is refused where too many commands wait for an app that is touched`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        let control = try LineConnection(port: try #require(shown.host.controlPort))
        control.send(["id": 0, "do": "touch", "view": "Edit"])
        let touch = try await shown.nextTouch()
        for id in 1...Int64(ControlChannel.waitingMax + 1) { control.send(["id": .int(id), "do": "views"]) }
        let refused = await control.next()
        #expect(refused?["id"] == .int(Int64(ControlChannel.waitingMax + 1)))
        #expect(refused?["ok"] == false && refused?["field"] == "line")
        shown.answer(touch.number, .done)
        for id in 0...Int64(ControlChannel.waitingMax) { #expect(await control.next()?["id"] == .int(id)) }
        await shown.host.stop()
    }

    @Test func `is forgotten when who has asked goes before an app has answered`() async throws {
        let shown = try await Shown()
        try await shown.show([Shown.list])
        let (control, other) = (
            try LineConnection(port: try #require(shown.host.controlPort)),
            try LineConnection(port: try #require(shown.host.controlPort))
        )
        control.send(text: "{\"do\":\"touch\",\"view\":\"Edit\"}\n{\"do\":\"home\"}\n")
        let touch = try await shown.nextTouch()
        control.close()
        for _ in 1...3 {
            other.send(["do": "views"])
            _ = await other.next()
        }
        shown.answer(touch.number, .done)
        // Another touch is answered after the first, and only while the app is in the foreground.
        other.send(["do": "touch", "view": "Edit"])
        shown.answer(try await shown.nextTouch().number, .done)
        #expect(await other.next()?["ok"] == true)
        #expect(try await shown.host.look().views == [Shown.list])
        await shown.host.stop()
    }
}
