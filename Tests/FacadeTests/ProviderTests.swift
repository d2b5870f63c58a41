// swift-format-ignore-file: NeverForceUnwrap
import CallKit
import Foundation
import PhoneCore
import Synchronization
import Testing
import TidingsModel
import VirtualPhone

private let id = UUID(uuidString: "0B9F1C9E-3A54-4B8E-9F57-0D6A1C6B7E01")!

private final class Delegate: CXProviderDelegate {
    let lines = Mutex<[String]>([])
    let fulfills: Bool

    init(fulfills: Bool = true) { self.fulfills = fulfills }

    private func perform(_ word: String, _ action: CXCallAction) {
        self.lines.withLock { $0.append("\(word) \(action.callUUID == id)") }
        if self.fulfills { action.fulfill() } else { action.fail() }
        action.fulfill()
    }

    func providerDidReset(_ provider: CXProvider) {}
    func providerDidBegin(_ provider: CXProvider) { self.lines.withLock { $0.append("begin") } }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { self.perform("answer", action) }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { self.perform("end", action) }
}

private final class Keeper: @unchecked Sendable {
    // Touched on the main actor only.
    var provider: CXProvider?
    let delegate = Delegate()
    let errors = Mutex<[String]>([])
}

@MainActor @Suite struct `A call an app reports to CallKit` {
    private let keeper = Keeper()

    private func phone(_ version: OSVersion = 26) async -> VirtualPhone {
        await launchedPhone(version, modes: [.voip]) { [keeper] in
            let provider = CXProvider(configuration: CXProviderConfiguration())
            provider.setDelegate(keeper.delegate, queue: nil)
            keeper.provider = provider
        }
    }

    private func report(_ name: String? = "Ann", handle: String = "ann", video: Bool = false, on phone: VirtualPhone)
        async
    {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .generic, value: handle)
        update.localizedCallerName = name
        update.hasVideo = video
        self.keeper.provider?.reportNewIncomingCall(with: id, update: update) { [keeper] error in
            keeper.errors.withLock { $0.append(error.map { "\($0)" } ?? "none") }
        }
        await phone.advance(by: .milliseconds(1))
    }

    private var lines: [String] { self.keeper.delegate.lines.withLock { $0 } }
    private var errors: [String] { self.keeper.errors.withLock { $0 } }

    @Test func `stands on the screen with its caller, and the person's answer comes to the delegate`() async {
        let phone = await self.phone()
        await self.report(video: true, on: phone)
        #expect(
            phone.screen.calls.map(\.call) == [
                IncomingCall(identifier: id.uuidString.lowercased(), caller: "Ann", hasVideo: true)
            ])
        #expect(self.errors == ["none"])
        await phone.answerCall()
        #expect(phone.screen.calls.map(\.isAnswered) == [true])
        await phone.declineCall()
        #expect(phone.screen.calls == [])
        #expect(self.lines == ["begin", "answer true", "end true"])
        #expect(phone.faults == [])
    }

    @Test func `without a name is called by its handle, until an update names it`() async {
        let phone = await self.phone()
        await self.report(nil, on: phone)
        #expect(phone.screen.calls.map(\.call.caller) == ["ann"])
        let update = CXCallUpdate()
        update.localizedCallerName = "Ann"
        self.keeper.provider?.reportCall(with: id, updated: update)
        await phone.advance(by: .milliseconds(1))
        #expect(phone.screen.calls.map(\.call.caller) == ["Ann"])
        let empty = CXCallUpdate()
        self.keeper.provider?.reportCall(with: id, updated: empty)
        await phone.advance(by: .milliseconds(1))
        #expect(phone.screen.calls.map(\.call.caller) == ["Ann"])
    }

    @Test func `is refused the second time, and rings once`() async {
        let phone = await self.phone()
        await self.report(on: phone)
        await self.report(on: phone)
        #expect(phone.screen.calls.count == 1)
        #expect(self.errors.count == 2)
        #expect(self.errors.last?.contains("callUUIDAlreadyExists") == true)
    }

    @Test func `ends by itself, and rings again when it is reported anew`() async {
        let phone = await self.phone()
        await self.report(on: phone)
        self.keeper.provider?.reportCall(with: id, endedAt: nil, reason: .remoteEnded)
        await phone.advance(by: .milliseconds(1))
        #expect(phone.screen.calls == [])
        await self.report(on: phone)
        #expect(phone.screen.calls.count == 1)
        self.keeper.provider?.invalidate()
        await phone.advance(by: .milliseconds(1))
        #expect(phone.screen.calls == [])
        #expect(self.errors == ["none", "none"])
    }

    @Test func `tells an error by Apple's domain and number`() {
        let error = CXErrorCodeIncomingCallError(.unentitled)
        #expect((error as NSError).domain == "com.apple.CallKit.error.incomingcall")
        #expect((error as NSError).code == 1)
    }
}
