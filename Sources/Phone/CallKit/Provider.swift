public import Dispatch
public import Foundation
import PhoneCore
import Synchronization
import VirtualPhone

/// Something the person did to a call; the app says when it is done.
///
/// `@unchecked Sendable`: the one thing that changes is behind a lock.
public class CXAction: @unchecked Sendable {
    /// Names the action.
    public let uuid = UUID()
    private let isDone = Mutex(false)
    private let reply: (@Sendable () -> Void)?

    init(reply: (@Sendable () -> Void)?) { self.reply = reply }

    /// True if the app has said that it is done, or failed.
    public var isComplete: Bool { self.isDone.withLock { $0 } }

    /// It is done.
    public func fulfill() { self.complete() }

    /// It could not be done.
    public func fail() { self.complete() }

    private func complete() {
        let isFirst = self.isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        if isFirst { self.reply?() }
    }
}

/// An action on one call.
///
/// `@unchecked Sendable`: what changes is the action's, guarded by its lock.
public class CXCallAction: CXAction, @unchecked Sendable {
    /// The call.
    public let callUUID: UUID

    /// An action on a call.
    public init(call callUUID: UUID) {
        self.callUUID = callUUID
        super.init(reply: nil)
    }

    init(_ call: UUID, reply: @escaping @Sendable () -> Void) {
        self.callUUID = call
        super.init(reply: reply)
    }
}

/// The person answers.
///
/// `@unchecked Sendable`: what changes is the action's, guarded by its lock.
public final class CXAnswerCallAction: CXCallAction, @unchecked Sendable {}

/// The person declines, or hangs up.
///
/// `@unchecked Sendable`: what changes is the action's, guarded by its lock.
public final class CXEndCallAction: CXCallAction, @unchecked Sendable {}

/// Who is told of what the person does with calls. All methods but `providerDidReset` are optional on Apple's systems. Those of calls
/// that the app itself begins, holds or mutes are not there: a virtual phone has no buttons for them.
public protocol CXProviderDelegate: AnyObject {
    /// All calls are over; never called on a virtual phone.
    func providerDidReset(_ provider: CXProvider)
    /// The provider is ready.
    func providerDidBegin(_ provider: CXProvider)
    /// The person answers: connect, then `fulfill()`.
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
    /// The person declines or hangs up: end the call, then `fulfill()`.
    func provider(_ provider: CXProvider, perform action: CXEndCallAction)
    /// An action was not completed in time; never called on a virtual phone, which records a fault.
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction)
}

extension CXProviderDelegate {
    /// Nothing, unless the delegate has it.
    public func providerDidBegin(_ provider: CXProvider) {}
    /// Fails it, unless the delegate has it.
    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fail() }
    /// Fails it, unless the delegate has it.
    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fail() }
    /// Nothing, unless the delegate has it.
    public func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {}
}

/// Reports the app's calls to the phone, which shows them (ios-delivery.md §12). One per app.
///
/// `@unchecked Sendable`: the state is guarded by one lock and the delegate by another; it is called on its queue only.
public final class CXProvider: @unchecked Sendable {
    private struct State {
        var configuration: CXProviderConfiguration
        var calls: [UUID: IncomingCall] = [:]
        var queue: DispatchQueue?
    }

    private let process: PhoneProcess
    private let state: Mutex<State>
    private weak var delegate: (any CXProviderDelegate)?
    private let delegateLock = Mutex(())

    /// A provider of calls that look so.
    public init(configuration: CXProviderConfiguration) {
        let process = PhoneProcess.current
        self.process = process
        self.state = Mutex(State(configuration: configuration))
        process.addFacadeHandler { [weak self] callback, reply in self?.handle(callback, reply) ?? false }
    }

    /// How the calls look.
    public var configuration: CXProviderConfiguration {
        get { self.state.withLock { $0.configuration } }
        set { self.state.withLock { $0.configuration = newValue } }
    }

    /// Who is told. Weak. On the main queue if no other is given.
    public func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
        self.delegateLock.withLock { _ in self.delegate = delegate }
        self.state.withLock { $0.queue = queue === DispatchQueue.main ? nil : queue }
        self.tellDelegate { delegate, provider in
            delegate.providerDidBegin(provider)
        } otherwise: {
        }
    }

    /// Shows an incoming call. From iOS 13 a VoIP push must have been reported so before its method returns.
    ///
    /// - Parameters:
    ///   - UUID: names the call from now on.
    ///   - update: who calls, and how.
    ///   - completion: called once, with an error if the call is not shown.
    public func reportNewIncomingCall(
        with UUID: UUID, update: CXCallUpdate, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let call = Self.call(UUID, update, before: nil)
        let isNew = self.state.withLock { state in
            guard state.calls[UUID] == nil else { return false }
            state.calls[UUID] = call
            return true
        }
        self.process.report(.incomingCallReported(call))
        let error: CXErrorCodeIncomingCallError? =
            isNew ? nil : CXErrorCodeIncomingCallError(.callUUIDAlreadyExists)
        let process = self.process
        let work: @Sendable () -> Void = { withPhoneProcess(process) { completion(error) } }
        if let queue = self.state.withLock({ $0.queue }) { queue.async(execute: work) } else { work() }
    }

    /// The same, async form.
    public func reportNewIncomingCall(with UUID: UUID, update: CXCallUpdate) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            self.reportNewIncomingCall(with: UUID, update: update) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Something about a call is different, for example the caller's name.
    public func reportCall(with UUID: UUID, updated update: CXCallUpdate) {
        let call = self.state.withLock { state -> IncomingCall? in
            guard let known = state.calls[UUID] else { return nil }
            let call = Self.call(UUID, update, before: known)
            state.calls[UUID] = call
            return call
        }
        if let call { self.process.report(.incomingCallReported(call)) }
    }

    /// A call ended by itself.
    public func reportCall(with UUID: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {
        guard self.state.withLock({ $0.calls.removeValue(forKey: UUID) }) != nil else { return }
        self.process.report(.callEnded(identifier: UUID.uuidString.lowercased()))
    }

    /// Ends all calls; nothing is told any more.
    public func invalidate() {
        let calls = self.state.withLock { state in
            defer { state.calls = [:] }
            return state.calls.values.map(\.identifier).sorted()
        }
        for call in calls { self.process.report(.callEnded(identifier: call)) }
        self.delegateLock.withLock { _ in self.delegate = nil }
    }

    private static func call(_ id: UUID, _ update: CXCallUpdate, before: IncomingCall?) -> IncomingCall {
        IncomingCall(
            identifier: id.uuidString.lowercased(),
            caller: update.localizedCallerName ?? update.remoteHandle?.value ?? before?.caller ?? "",
            hasVideo: update.hasVideo)
    }

    private func handle(_ callback: Callback, _ reply: PhoneReply) -> Bool {
        switch callback {
        case .callAnswered(let identifier):
            guard let call = self.known(identifier) else { return false }
            let action = CXAnswerCallAction(call) { reply() }
            self.tellDelegate { delegate, provider in
                delegate.provider(provider, perform: action)
            } otherwise: {
                reply()
            }
        case .callDeclined(let identifier):
            guard let call = self.known(identifier) else { return false }
            self.state.withLock { $0.calls[call] = nil }
            let action = CXEndCallAction(call) { reply() }
            self.tellDelegate { delegate, provider in
                delegate.provider(provider, perform: action)
            } otherwise: {
                reply()
            }
        default: return false
        }
        return true
    }

    private func known(_ identifier: String) -> UUID? {
        UUID(uuidString: identifier).flatMap { id in self.state.withLock { $0.calls[id] } == nil ? nil : id }
    }

    private func tellDelegate(
        _ call: @escaping @Sendable (any CXProviderDelegate, CXProvider) -> Void,
        otherwise: @escaping @Sendable () -> Void
    ) {
        let process = self.process
        let work: @Sendable () -> Void = {
            withPhoneProcess(process) {
                guard let delegate = self.delegateLock.withLock({ _ in self.delegate }) else { return otherwise() }
                call(delegate, self)
            }
        }
        if let queue = self.state.withLock({ $0.queue }) { queue.async(execute: work) } else { work() }
    }
}
