public import VirtualPhone

extension VirtualExtension {
    /// The extension's code, for a phone that hosts it in its own process (`VirtualPhone.install`).
    public static func code(_ type: UNNotificationServiceExtension.Type) -> ProcessCode {
        ProcessCode { process in
            ServiceExtensionRuntime { type.init() }.attach(to: process)
        }
    }

    /// Runs the extension under the phone that started this executable. Never returns: the phone ends the process.
    @MainActor public static func run(_ type: UNNotificationServiceExtension.Type) -> Never {
        let process = self.connectToPhone()
        ServiceExtensionRuntime { type.init() }.attach(to: process)
        runUntilKilled()
    }
}
