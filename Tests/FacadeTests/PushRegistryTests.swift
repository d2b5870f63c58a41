import Foundation
import PhoneCore
import PushKit
import Synchronization
import Testing
import TidingsModel
import VirtualPhone

/// An app's delegate for calls; reports each to the phone unless told not to.
private class CallDelegate: NSObject, PKPushRegistryDelegate {
    let lines = Mutex<[String]>([])
    let reports: Bool
    init(reports: Bool) { self.reports = reports }
    private func add(_ line: String) { self.lines.withLock { $0.append(line) } }

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        self.add("token \(pushCredentials.token.count) \(type == .voIP) \(registry.pushToken(for: .voIP)?.count ?? 0)")
    }

    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) { self.add("no token") }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        self.add("call from \(payload.dictionaryPayload["caller"] as? String ?? "-")")
        if self.reports {
            PhoneProcess.current.report(.incomingCallReported(IncomingCall(identifier: "1", caller: "alice")))
        }
        completion()
    }
}

private final class DeafDelegate: PKPushRegistryDelegate {
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}
}

private final class Keeper: @unchecked Sendable {
    // Touched on the main actor only.
    var registry: PKPushRegistry?
    var delegate: (any PKPushRegistryDelegate)?
}

@MainActor @Suite struct `An app that takes calls` {
    private let keeper = Keeper()

    private func phone(_ delegate: @escaping @MainActor @Sendable () -> any PKPushRegistryDelegate) async
        -> VirtualPhone
    {
        await launchedPhone(modes: [.voip]) { [keeper] in
            let registry = PKPushRegistry(queue: .main)
            keeper.delegate = delegate()
            keeper.registry = registry
            registry.delegate = keeper.delegate
            registry.desiredPushTypes = [.voIP]
        }
    }

    private var lines: [String] { (self.keeper.delegate as? CallDelegate)?.lines.withLock { $0 } ?? [] }

    @Test func `gets a token of its own and is started by a call although the person quit it`() async {
        let phone = await self.phone { CallDelegate(reports: true) }
        #expect(self.lines == ["token 32 true 32"])
        await phone.forceQuit()
        await phone.deliverVoIP(["aps": [:] as JSONValue, "caller": "alice"])
        #expect(self.lines.contains("call from alice"))
        #expect(phone.state() != .forceQuit)
        #expect(phone.faults == [])
    }

    @Test func `is told that its token is void when it wants no more pushes`() async {
        let phone = await self.phone { CallDelegate(reports: true) }
        self.keeper.registry?.desiredPushTypes = []
        await phone.advance(by: .milliseconds(1))
        #expect(self.lines == ["token 32 true 32", "no token"])
        #expect(phone.faults == [])
    }

    @Test func `is killed if it reports no call`() async {
        let phone = await self.phone { CallDelegate(reports: false) }
        await phone.home()
        await phone.advance(by: .seconds(10))
        await phone.deliverVoIP(["aps": [:] as JSONValue, "caller": "alice"])
        await phone.advance(by: .seconds(10))
        let ends = phone.trace.compactMap { line -> EndReason? in
            if case .processEnded(_, let reason) = line.entry { reason } else { nil }
        }
        #expect(ends == [.noCallReported])
    }

    @Test func `is a fault if nothing in it takes the push`() async {
        let phone = await self.phone { DeafDelegate() }
        await phone.deliverVoIP(["aps": [:] as JSONValue, "caller": "alice"])
        #expect(
            phone.faults.contains(
                "pushRegistry(_:didReceiveIncomingPushWith:for:completion:) was called and is not implemented"))
    }
}
