public import PhoneCore

/// An app's description of itself, because Linux has no Objective-C runtime to ask: iOS calls a delegate method only if the app has it.
///
/// A declaration that is not what the app has is a fault, named by method: a declared method whose default ran, and a method
/// that stands in the executable's symbol table and is not declared (docs/testing/phone-app.md).
public struct VirtualApp: Sendable {
    /// The delegate methods the app has.
    public var delegates: DelegateMethods
    /// Methods that stand in the code and that this start does without, as an app on an iPhone that answers `responds(to:)` with no: iOS does
    /// not call them, and no fault says that they are not declared.
    public var withheld: DelegateMethods = []
    /// The receiver of its life-cycle: its delegate or its scenes.
    public var lifecycle: LifecycleStyle

    /// An app with the given methods.
    public init(delegates: DelegateMethods = .modern, lifecycle: LifecycleStyle = .scenes) {
        self.delegates = delegates
        self.lifecycle = lifecycle
    }

    /// An app with the given life-cycle and methods.
    public init(lifecycle: LifecycleStyle, delegates: DelegateMethods) {
        self.init(delegates: delegates, lifecycle: lifecycle)
    }

    /// For a phone that hosts the app in its own process.
    @MainActor package func introduce(_ process: PhoneProcess) {
        process.declare(self.delegates.union(self.withheld))
        process.send(.hello(ProcessHello(token: "", methods: self.delegates, lifecycle: self.lifecycle)))
    }

    /// Leaves the process with a message if no phone started it.
    @MainActor package func connectToPhone() -> PhoneProcess {
        let process = SocketLink.connect(role: .app) { token in
            ProcessHello(token: token, methods: self.delegates, lifecycle: self.lifecycle)
        }
        process.declare(self.delegates.union(self.withheld))
        return process
    }
}

/// A notification extension's place in a virtual phone; `run` of a service extension is in UserNotifications, that of a content
/// extension in UserNotificationsUI.
public enum VirtualExtension {
    /// Leaves the process with a message if no phone started it.
    @MainActor package static func connectToPhone(
        as role: PhoneProcessFacts.Role = .notificationService
    ) -> PhoneProcess {
        SocketLink.connect(role: role) { token in ProcessHello(token: token) }
    }
}

/// The code of an app or extension that a phone runs in its own process, again at every start.
public struct ProcessCode: Sendable {
    let start: @MainActor @Sendable (PhoneProcess) -> Void

    package init(start: @escaping @MainActor @Sendable (PhoneProcess) -> Void) { self.start = start }
}
