import CallKit
import Foundation
import PushKit
import TidingsKit

/// The app's calls: PushKit brings them, CallKit shows them. What carries sound and picture is another library's business; it would begin in
/// the handler, and end where the person hangs up.
@MainActor final class CallCenter: NSObject, PKPushRegistryDelegate, CXProviderDelegate {
    private let provider: CXProvider
    private let registry: PKPushRegistry
    private let calls: CallIntegration

    /// To be made when the app has finished launching: a call may have launched it.
    init(kit: NotificationIntegration, answered: @escaping @MainActor @Sendable (String) -> Void) {
        let configuration = CXProviderConfiguration()
        configuration.supportsVideo = true
        configuration.supportedHandleTypes = [.generic]
        self.provider = CXProvider(configuration: configuration)
        self.registry = PKPushRegistry(queue: .main)
        self.calls = CallIntegration(
            client: kit.client, pushEnvironment: kit.pushEnvironment, provider: self.provider)
        self.answered = answered
        super.init()
        self.provider.setDelegate(self, queue: nil)
        self.registry.delegate = self
        self.registry.desiredPushTypes = [.voIP]
    }

    private let answered: @MainActor @Sendable (String) -> Void

    // MARK: PushKit

    nonisolated func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType
    ) { self.calls.pushRegistry(registry, didUpdate: pushCredentials, for: type) }

    nonisolated func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {
        self.calls.pushRegistry(registry, didInvalidatePushTokenFor: type)
    }

    nonisolated func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        let isOurs = self.calls.pushRegistry(
            registry, didReceiveIncomingPushWith: payload, for: type, completion: completion)
        guard !isOurs else { return }
        // Another sender's: iOS ends an app that reports no call for it.
        let call = UUID()
        self.provider.reportNewIncomingCall(with: call, update: CXCallUpdate()) { [provider] _ in
            provider.reportCall(with: call, endedAt: nil, reason: .failed)
            completion()
        }
    }

    // MARK: CallKit

    nonisolated func providerDidReset(_ provider: CXProvider) {}

    nonisolated func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        let call = action.callUUID.uuidString.lowercased()
        Task { @MainActor in self.answered("answered \(call)") }
        action.fulfill()
    }

    nonisolated func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        let call = action.callUUID.uuidString.lowercased()
        Task { @MainActor in self.answered("ended \(call)") }
        action.fulfill()
    }
}
