public import CallKit
import ClientCore
public import Foundation
public import PushKit
public import TidingsClient
public import TidingsModel

/// Rings for calls (PushKit and CallKit). The app forwards PushKit's three calls and keeps CallKit's own, which say what the person does;
/// this library carries no sound or video. Needs the background mode `voip`.
///
/// ```swift
/// final class CallCenter: NSObject, PKPushRegistryDelegate, CXProviderDelegate {
///     let provider = CXProvider(configuration: CXProviderConfiguration())
///     let registry = PKPushRegistry(queue: .main)
///     let calls: CallIntegration
///
///     init(kit: NotificationIntegration) {
///         self.calls = CallIntegration(client: kit.client, pushEnvironment: kit.pushEnvironment, provider: self.provider)
///         super.init()
///         self.provider.setDelegate(self, queue: nil)
///         self.registry.delegate = self
///         self.registry.desiredPushTypes = [.voIP]
///     }
///
///     func pushRegistry(
///         _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
///         completion: @escaping @Sendable () -> Void
///     ) {
///         self.calls.pushRegistry(registry, didReceiveIncomingPushWith: payload, for: type, completion: completion)
///     }
/// }
/// ```
///
/// Made in `application(_:didFinishLaunchingWithOptions:)` after the kit: a VoIP push may have launched the app. Its methods may be called
/// on any thread, and report a call before they return, as iOS demands.
public final class CallIntegration: Sendable {
    /// A call that rings here.
    public struct Call: Hashable, Sendable {
        /// CallKit's and the app's own id of it.
        public var id: UUID
        /// Who calls.
        public var caller: UserID
        /// The caller's name on the screen; nil shows their id.
        public var callerName: String?
        /// True if it is a call with video.
        public var hasVideo: Bool
        /// The data that the app's backend sent with it.
        public var data: JSONValue
    }

    /// Changes what the screen says of a call, before it is reported.
    public typealias Customization = @Sendable (Call, CXCallUpdate) -> Void
    /// Told of each call once CallKit has it: begin to connect here. With an error the phone does not ring, for example for a Focus.
    public typealias Handler = @Sendable (Call, (any Error)?) -> Void

    private let client: ChatClient
    private let pushEnvironment: PushEnvironment
    private let provider: CXProvider
    private let customization: Customization
    private let handler: Handler

    /// - Parameters:
    ///   - client: the kit's.
    ///   - pushEnvironment: which of Apple's sides tokens belong to.
    ///   - provider: the app's, which the calls are reported to.
    ///   - customization: changes what the screen says; by default the caller's name, or else their id.
    ///   - handler: told of each call that is reported.
    public init(
        client: ChatClient, pushEnvironment: PushEnvironment, provider: CXProvider,
        customization: @escaping Customization = { _, _ in }, handler: @escaping Handler = { _, _ in }
    ) {
        self.client = client
        self.pushEnvironment = pushEnvironment
        self.provider = provider
        self.customization = customization
        self.handler = handler
    }

    /// Hands the token for calls to the server once connected. Answers whether it was ours.
    @discardableResult
    public func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType
    ) -> Bool {
        guard type == .voIP else { return false }
        do {
            try self.client.register(
                voIPToken: DeviceToken(pushCredentials.token), environment: self.pushEnvironment)
        } catch {
            self.client.report(.pushRegistrationFailed(reason: "\(error)"))
        }
        return true
    }

    /// Takes the token back. Answers whether it was ours.
    @discardableResult
    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) -> Bool {
        guard type == .voIP else { return false }
        self.client.unregisterVoIP()
        return true
    }

    /// Reports the call to CallKit before it returns. A call for a person who is no longer signed in here is reported without a name and
    /// ended at once. Returns true if the push was ours; then the handler is called once, otherwise the app reports a call and calls it.
    @discardableResult
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) -> Bool {
        guard type == .voIP else { return false }
        let payload = JSONValue(userInfo: payload.dictionaryPayload)
        switch self.client.decideCall(payload) {
        case .leave: return false
        case .ring(let info, let name):
            let call = Call(info, named: name, data: payload[CallInfo.dataKey] ?? .members([]))
            let update = Self.update(named: name, handle: info.caller.rawValue, hasVideo: info.hasVideo)
            self.customization(call, update)
            self.provider.reportNewIncomingCall(with: call.id, update: update) { [handler] error in
                handler(call, error)
                completion()
            }
        case .refuse(let info):
            let call = Call(info, named: nil, data: .members([]))
            let update = Self.update(named: nil, handle: "", hasVideo: info.hasVideo)
            self.provider.reportNewIncomingCall(with: call.id, update: update) { [provider] _ in
                provider.reportCall(with: call.id, endedAt: nil, reason: .failed)
                completion()
            }
        }
        return true
    }

    private static func update(named name: String?, handle: String, hasVideo: Bool) -> CXCallUpdate {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .generic, value: handle)
        update.localizedCallerName = name
        update.hasVideo = hasVideo
        return update
    }
}

extension CallIntegration.Call {
    /// A call id is a UUID, or there was no `CallInfo`.
    fileprivate init(_ info: CallInfo, named name: String?, data: JSONValue) {
        self.init(
            id: UUID(uuidString: info.id.rawValue) ?? UUID(), caller: info.caller, callerName: name,
            hasVideo: info.hasVideo, data: data)
    }
}
