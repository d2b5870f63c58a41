import PhoneCore
import Synchronization
package import VirtualPhone

/// Changes the content of a push before it is shown (ios-delivery.md §10). Runs in a process of its own.
open class UNNotificationServiceExtension {
    /// An extension; the phone makes one per push.
    public required init() {}

    /// NSE: calls the handler once with the content to show, within 30 s. The default passes the content on.
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping @Sendable (UNNotificationContent) -> Void
    ) { contentHandler(request.content) }

    /// EXP: the time is up; the last chance to call the handler.
    open func serviceExtensionTimeWillExpire() {}
}

/// Makes the callbacks of an extension's process. Several pushes may be at work at once, each on its own instance.
package final class ServiceExtensionRuntime: @unchecked Sendable {
    // `open` is guarded by the main actor: every method that touches it is bound to it.

    private let make: @Sendable () -> UNNotificationServiceExtension
    private var open: [(identifier: String, instance: UNNotificationServiceExtension)] = []

    /// A runtime that makes an instance per push.
    package init(make: @escaping @Sendable () -> UNNotificationServiceExtension) { self.make = make }

    /// Takes over the callbacks of the process.
    @MainActor package func attach(to process: PhoneProcess) {
        process.setHandler { callback, reply in self.perform(callback, reply) }
    }

    @MainActor private func perform(_ callback: Callback, _ reply: PhoneReply) {
        switch callback {
        case .serviceExtensionReceive(let request):
            let instance = self.make()
            self.open.append((request.identifier, instance))
            instance.didReceive(UNNotificationRequest(request)) { content in reply(.content(content.parts)) }
        case .serviceExtensionTimeWillExpire(let identifier):
            for open in self.open where open.identifier == identifier {
                open.instance.serviceExtensionTimeWillExpire()
            }
            reply()
        default: PhoneProcess.current.send(.fault("\(callback.name) was called in an extension"))
        }
    }
}
