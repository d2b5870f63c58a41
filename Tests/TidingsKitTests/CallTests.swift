import CallKit
import ClientCore
import Foundation
import PhoneCore
import PushKit
import SDKTestSupport
import ServerCore
import Synchronization
import Testing
import TidingsClient
import TidingsKit
import TidingsModel
import VirtualPhone

/// What an app does for calls: forwards PushKit's three calls.
final class CallBench: PKPushRegistryDelegate, Sendable {
    let provider: CXProvider
    let calls: CallIntegration
    private let registry: PKPushRegistry

    @MainActor init(kit: NotificationIntegration) {
        self.provider = CXProvider(configuration: CXProviderConfiguration())
        let lines = Lines()
        self.lines = lines
        self.calls = CallIntegration(
            client: kit.client, pushEnvironment: .sandbox, provider: self.provider,
            customization: { call, update in
                if call.hasVideo { update.localizedCallerName = (call.callerName ?? "") + " (video)" }
            },
            handler: { call, error in
                lines.add("\(call.caller) \(call.callerName ?? "-") \(call.data.text)\(error == nil ? "" : " refused")")
            })
        self.registry = PKPushRegistry(queue: .main)
        self.registry.delegate = self
        self.registry.desiredPushTypes = [.voIP]
    }

    let lines: Lines

    final class Lines: Sendable {
        private let all = Mutex<[String]>([])
        func add(_ line: String) { self.all.withLock { $0.append(line) } }
        var value: [String] { self.all.withLock { $0 } }
    }

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        self.calls.pushRegistry(registry, didUpdate: pushCredentials, for: type)
    }

    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {
        self.calls.pushRegistry(registry, didInvalidatePushTokenFor: type)
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        let isOurs = self.calls.pushRegistry(
            registry, didReceiveIncomingPushWith: payload, for: type, completion: completion)
        if !isOurs { completion() }
    }

    func unregister() { self.registry.desiredPushTypes = [] }
}

private let id: CallID = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01"

extension ChatBench {
    fileprivate func call(
        named name: String? = "Bob B.", video: Bool = false, to tag: String? = nil, data: JSONValue? = nil
    ) -> JSONValue {
        let info = CallInfo(
            id: id, caller: "bob", callerName: name, hasVideo: video, recipientTag: tag ?? self.server.tag())
        var members: [(String, JSONValue)] = [("aps", .members([])), ("tidings", info.dictionary)]
        if let data { members.append(("data", data)) }
        return .members(members)
    }

    fileprivate var voIPRequests: [PushRegistration?] {
        self.server.requests.compactMap {
            if case .registerVoIP(let registration) = $0 { .some(registration) } else { nil }
        }
    }

    fileprivate var callers: [String] { self.phone.screen.calls.map(\.call.caller) }

    fileprivate var ends: [EndReason] {
        self.phone.trace.compactMap { if case .processEnded(_, let reason) = $0.entry { reason } else { nil } }
    }
}

/// Where the app is when the push comes.
enum CallPlace: CaseIterable, Sendable { case foreground, suspended, killed, forceQuit }

@MainActor @Suite(.serialized) struct `The kit of an app that takes calls` {
    @Test func `tells the server the token for calls, beside the one for messages, and takes it back`() async {
        let bench = await ChatBench(takesCalls: true)
        await bench.until { !$0.voIPRequests.isEmpty }
        let registration = bench.voIPRequests.first ?? nil
        #expect(registration?.topic == "com.example.chat.voip")
        #expect(registration?.environment == .sandbox)
        #expect(registration?.token.rawValue.isEmpty == false)
        bench.calls?.unregister()
        await bench.until { $0.voIPRequests.count == 2 }
        #expect(bench.voIPRequests.last == .some(nil))
    }

    @Test(arguments: CallPlace.allCases)
    func `rings with the caller's name, wherever the app is`(place: CallPlace) async {
        let bench = await ChatBench(osVersion: 26, hasNames: false, takesCalls: true)
        await bench.until { !$0.voIPRequests.isEmpty }
        switch place {
        case .foreground: break
        case .suspended:
            await bench.phone.home()
            await bench.advance(by: 40_000)
            #expect(bench.phone.state() == .suspended)
        case .killed:
            await bench.phone.home()
            await bench.kill()
        case .forceQuit:
            bench.kit?.client.disconnect()
            await bench.phone.forceQuit()
        }
        let payload = bench.call(data: ["room": 7])
        await bench.phone.deliverVoIP(payload)
        await bench.until { !$0.callers.isEmpty }
        #expect(bench.callers == ["Bob B."])
        #expect(bench.phone.screen.calls.map(\.call.identifier) == [id.rawValue])
        #expect(bench.calls?.lines.value == [#"bob Bob B. {"room":7}"#])
        #expect(!bench.ends.contains(.noCallReported))
        #expect(bench.phone.faults == [])
        // A call is no message: nothing is in the list, and the badge is as it was.
        #expect(bench.phone.screen.list == [])
    }

    @Test func `takes the name that the app knows before the server's, and the app's own words`() async {
        let bench = await ChatBench(takesCalls: true)
        bench.kit?.refreshUserInfo(UserInfo(name: "Bobby"), for: "bob")
        await bench.phone.deliverVoIP(bench.call(video: true))
        #expect(bench.callers == ["Bobby (video)"])
        #expect(bench.phone.screen.calls.map(\.call.hasVideo) == [true])
    }

    @Test func `shows the caller's id where nobody knows a name`() async {
        let bench = await ChatBench(hasNames: false, takesCalls: true)
        await bench.phone.deliverVoIP(bench.call(named: nil))
        #expect(bench.callers == ["bob"])
    }

    @Test func `reports a call for somebody else without a name and ends it, so that the app is not killed`() async {
        let bench = await ChatBench(takesCalls: true)
        await bench.phone.home()
        await bench.advance(by: 40_000)
        await bench.phone.deliverVoIP(bench.call(to: "somebody else"))
        await bench.advance(by: 1_000)
        #expect(bench.callers == [])
        let reported = bench.phone.trace.compactMap { line -> String? in
            if case .incomingCall(let call) = line.entry { call.caller } else { nil }
        }
        #expect(reported == [""])
        #expect(bench.calls?.lines.value == [])
        #expect(!bench.ends.contains(.noCallReported))
    }

    @Test func `leaves the push of another sender to the app, which iOS kills if it reports nothing`() async {
        let bench = await ChatBench(takesCalls: true)
        await bench.phone.home()
        await bench.advance(by: 40_000)
        bench.kit?.client.disconnect()
        await bench.phone.deliverVoIP(["aps": .members([]), "caller": "bob"])
        await bench.advance(by: 10_000)
        #expect(bench.ends.contains(.noCallReported))
    }

    @Test func `on iOS 12 is not killed for a call it does not report`() async {
        let bench = await ChatBench(osVersion: 12, lifecycle: .application, takesCalls: true)
        await bench.phone.home()
        await bench.advance(by: 40_000)
        await bench.phone.deliverVoIP(["aps": .members([]), "caller": "bob"])
        await bench.advance(by: 10_000)
        #expect(!bench.ends.contains(.noCallReported))
        await bench.phone.deliverVoIP(bench.call())
        #expect(bench.callers == ["Bob B."])
    }
}
