public import VirtualPhone

extension VirtualApp {
    /// The app's code, for a phone that hosts it in its own process (`VirtualPhone.install`).
    ///
    /// - Parameters:
    ///   - delegate: makes the app's delegate; called at every start of the app's process.
    ///   - sceneDelegate: makes the delegate of a scene; needed with the scene life-cycle.
    public func code(
        delegate: @escaping @MainActor @Sendable () -> any UIApplicationDelegate,
        sceneDelegate: (@MainActor @Sendable () -> any UISceneDelegate)? = nil
    ) -> ProcessCode {
        ProcessCode { process in
            self.introduce(process)
            Self.attach(process, delegate: delegate(), sceneDelegate: sceneDelegate)
        }
    }

    /// Runs the app under the phone that started this executable; the place of Apple's `UIApplicationMain`. Never returns:
    /// the phone ends the process.
    ///
    /// - Parameters:
    ///   - delegate: the app's delegate.
    ///   - sceneDelegate: makes the delegate of a scene; needed with the scene life-cycle.
    @MainActor public func run(
        delegate: @autoclosure @MainActor () -> any UIApplicationDelegate,
        sceneDelegate: (@MainActor @Sendable () -> any UISceneDelegate)? = nil
    ) -> Never {
        let process = self.connectToPhone()
        Self.attach(process, delegate: delegate(), sceneDelegate: sceneDelegate)
        process.reportViews()
        runUntilKilled()
    }

    @MainActor private static func attach(
        _ process: PhoneProcess, delegate: any UIApplicationDelegate,
        sceneDelegate: (@MainActor @Sendable () -> any UISceneDelegate)?
    ) {
        let runtime = AppRuntime(process: process, delegate: delegate, makeSceneDelegate: sceneDelegate)
        process.setHandler { callback, reply in runtime.handle(callback, reply) }
    }
}
