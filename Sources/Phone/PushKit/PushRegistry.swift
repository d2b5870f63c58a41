public import Dispatch
public import Foundation
import PhoneCore
import Synchronization
import TidingsModel
import VirtualPhone

/// A kind of push beside notifications.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
    /// Apple's text.
    public let rawValue: String
    /// Wraps Apple's value.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Calls (ios-delivery.md §12).
    public static let voIP = PKPushType(rawValue: "PKPushTypeVoIP")
    /// Complications of a watch; never delivered by a virtual phone.
    public static let complication = PKPushType(rawValue: "PKPushTypeComplication")
    /// Changes of files; never delivered by a virtual phone.
    public static let fileProvider = PKPushType(rawValue: "PKPushTypeFileProvider")
}

/// Where pushes of a kind are sent to.
public final class PKPushCredentials: Sendable {
    /// The kind.
    public let type: PKPushType
    /// The token.
    public let token: Data

    init(type: PKPushType, token: Data) {
        self.type = type
        self.token = token
    }
}

/// A push of a kind.
public final class PKPushPayload: Sendable {
    /// The kind.
    public let type: PKPushType
    private let payload: JSONObject
    /// The payload that was sent.
    public var dictionaryPayload: [AnyHashable: Any] { userInfo(from: self.payload) }

    init(type: PKPushType, payload: JSONObject) {
        self.type = type
        self.payload = payload
    }
}

/// Who is told about pushes of a kind. `didReceiveIncomingPushWith` is optional on Apple's systems; here its default
/// reports that neither form is there when such a push arrives.
public protocol PKPushRegistryDelegate: AnyObject {
    /// There is a token, or a new one.
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType)
    /// A push arrived. From iOS 13 a call must be reported (`CXProvider.reportNewIncomingCall`) before it returns.
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void)
    /// The same, async form.
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) async
    /// The token is void.
    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
    /// Calls the async form.
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        let call = AsyncCall(delegate: self, registry: registry, payload: payload)
        Task {
            await call.delegate.pushRegistry(
                call.registry, didReceiveIncomingPushWith: call.payload, for: call.payload.type)
            completion()
        }
    }
    /// Reports that the delegate lacks it.
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType
    ) async {
        PhoneProcess.currentIfAny?.send(
            .fault("pushRegistry(_:didReceiveIncomingPushWith:for:completion:) was called and is not implemented"))
    }
    /// Nothing, unless the delegate has it.
    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {}
}

/// Hands a delegate to the task of its async form. `@unchecked Sendable`: Apple's delegate is not bound to an actor either;
/// the registry's queue orders the calls.
private struct AsyncCall: @unchecked Sendable {
    let delegate: any PKPushRegistryDelegate
    let registry: PKPushRegistry
    let payload: PKPushPayload
}

/// Registers the app for pushes of a kind (ios-delivery.md §12).
///
/// `@unchecked Sendable`: the state is guarded by one lock and the delegate by another; it is called on the queue only.
public final class PKPushRegistry: @unchecked Sendable {
    private struct State {
        var types: Set<PKPushType>?
        var token: Data?
    }

    private let process: PhoneProcess
    private let queue: DispatchQueue?
    private let state = Mutex(State())
    private weak var currentDelegate: (any PKPushRegistryDelegate)?
    private let delegateLock = Mutex(())

    /// A registry that calls its delegate on a queue; nil is the main queue.
    public init(queue: DispatchQueue?) {
        let process = PhoneProcess.current
        self.process = process
        self.queue = queue === DispatchQueue.main ? nil : queue
        process.addFacadeHandler { [weak self] callback, reply in self?.handle(callback, reply) ?? false }
    }

    /// Who is told. Weak.
    public var delegate: (any PKPushRegistryDelegate)? {
        get { self.delegateLock.withLock { _ in self.currentDelegate } }
        set { self.delegateLock.withLock { _ in self.currentDelegate = newValue } }
    }

    /// The kinds to register for; setting it asks for the tokens.
    public var desiredPushTypes: Set<PKPushType>? {
        get { self.state.withLock { $0.types } }
        set {
            let wasOn = self.state.withLock { state in
                defer { state.types = newValue }
                return state.types?.contains(.voIP) == true
            }
            let isOn = newValue?.contains(.voIP) == true
            if isOn != wasOn { self.process.report(.voipRegistrationChanged(isOn: isOn)) }
        }
    }

    /// The token of a kind, once it came.
    public func pushToken(for type: PKPushType) -> Data? { type == .voIP ? self.state.withLock { $0.token } : nil }

    private func handle(_ callback: Callback, _ reply: PhoneReply) -> Bool {
        // The token is void after the app has said that it wants no more.
        guard self.desiredPushTypes?.contains(.voIP) == true || self.pushToken(for: .voIP) != nil else { return false }
        switch callback {
        case .voipTokenUpdated(let token):
            let data = Data(Hexadecimal.bytes(token.rawValue.utf8) ?? [])
            self.state.withLock { $0.token = data }
            self.onQueue(reply) { delegate, registry in
                delegate.pushRegistry(registry, didUpdate: PKPushCredentials(type: .voIP, token: data), for: .voIP)
                reply()
            }
        case .voipPushReceived(let payload):
            self.onQueue(reply) { delegate, registry in
                delegate.pushRegistry(
                    registry, didReceiveIncomingPushWith: PKPushPayload(type: .voIP, payload: payload), for: .voIP
                ) { reply() }
            }
        case .voipTokenInvalidated:
            self.state.withLock { $0.token = nil }
            self.onQueue(reply) { delegate, registry in
                delegate.pushRegistry(registry, didInvalidatePushTokenFor: .voIP)
                reply()
            }
        default: return false
        }
        return true
    }

    private func onQueue(
        _ reply: PhoneReply, _ call: @escaping @Sendable (any PKPushRegistryDelegate, PKPushRegistry) -> Void
    ) {
        guard self.delegate != nil else { return reply() }
        let process = self.process
        let work: @Sendable () -> Void = {
            withPhoneProcess(process) {
                guard let delegate = self.delegate else { return reply() }
                call(delegate, self)
            }
        }
        if let queue = self.queue { queue.async(execute: work) } else { work() }
    }
}
