public import VirtualPhone

extension VirtualExtension {
    /// The extension's code, for a phone that hosts it in its own process (`VirtualPhone.install`).
    ///
    /// - Parameter make: makes the extension's object; called for each push.
    public static func code(
        _ make: @escaping @MainActor @Sendable () -> UNNotificationServiceExtension
    ) -> ProcessCode {
        ProcessCode { process in
            ServiceExtensionRuntime(hasOwnProcess: false, make: make).attach(to: process)
        }
    }

    /// Runs the extension under the phone that started this executable. Never returns: the phone ends the process.
    ///
    /// - Parameter make: makes the extension's object; called for each push.
    @MainActor public static func run(
        _ make: @escaping @MainActor @Sendable () -> UNNotificationServiceExtension
    ) -> Never {
        let process = self.connectToPhone()
        ServiceExtensionRuntime(hasOwnProcess: true, make: make).attach(to: process)
        runUntilKilled()
    }
}
