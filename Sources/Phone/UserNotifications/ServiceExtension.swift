import Dispatch
import PhoneCore
import Synchronization
package import VirtualPhone

/// Changes the content of a push before it is shown (ios-delivery.md §10). Runs in a process of its own.
open class UNNotificationServiceExtension {
    /// An extension; the phone makes one per push.
    public init() {}

    /// Calls the handler once with the content to show, within 30 s. The default passes the content on.
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping @Sendable (UNNotificationContent) -> Void
    ) { contentHandler(request.content) }

    /// The time is up; the last chance to call the handler.
    open func serviceExtensionTimeWillExpire() {}
}

/// Several pushes may be at work at once, each on its own instance.
package final class ServiceExtensionRuntime: Sendable {
    /// `@unchecked Sendable`: as on an iPhone an instance may be called on more than one thread; what it keeps it guards.
    private struct Instance: @unchecked Sendable {
        let object: UNNotificationServiceExtension
    }

    private let make: @MainActor @Sendable () -> UNNotificationServiceExtension
    private let hasOwnProcess: Bool
    /// The instances that owe their content, by the number of the call.
    private let open = Mutex<[CallbackNumber: Instance]>([:])

    /// With `hasOwnProcess` each call has a queue to itself, so that one that blocks delays neither
    /// `serviceExtensionTimeWillExpire()` nor another push (ios-delivery.md §10). Else all calls are on the main
    /// actor, where a test's phone waits for them.
    package init(hasOwnProcess: Bool, make: @escaping @MainActor @Sendable () -> UNNotificationServiceExtension) {
        self.hasOwnProcess = hasOwnProcess
        self.make = make
    }

    @MainActor package func attach(to process: PhoneProcess) {
        process.setHandler { callback, reply in self.handle(callback, reply) }
    }

    @MainActor private func handle(_ callback: Callback, _ reply: PhoneReply) {
        switch callback {
        case .serviceExtensionReceive(let request):
            let instance = Instance(object: self.make())
            self.open.withLock { $0[reply.number] = instance }
            self.call {
                instance.object.didReceive(UNNotificationRequest(request)) { content in
                    // Let go of outside the lock: an instance that goes may call its handler once more.
                    let done = self.open.withLock { $0.removeValue(forKey: reply.number) }
                    withExtendedLifetime(done) { reply(.content(content.parts)) }
                }
            }
        case .serviceExtensionTimeWillExpire(_, let call):
            if let instance = self.open.withLock({ $0[call] }) {
                self.call { instance.object.serviceExtensionTimeWillExpire() }
            }
            reply()
        default: PhoneProcess.current.send(.fault("\(callback.name) was called in an extension"))
        }
    }

    @MainActor private func call(_ work: @escaping @Sendable () -> Void) {
        guard self.hasOwnProcess else { return work() }
        let process = PhoneProcess.current
        DispatchQueue(label: "notification service").async { withPhoneProcess(process, work) }
    }
}
