import PhoneCore
import Synchronization
import TidingsModel
import VirtualPhone

/// Collects lines from anywhere.
final class Notes: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { self.lines.withLock { $0.append(line) } }
    var all: [String] { self.lines.withLock { $0 } }
}

/// Launches an app that has nothing but its launch on a phone: the small facades need none of UIKit.
@MainActor func launchedPhone(
    _ version: OSVersion = 17, modes: BackgroundModes = .remoteNotification, tasks: [String] = [],
    launch: @escaping @MainActor @Sendable () -> Void = {}
) async -> VirtualPhone {
    let phone = VirtualPhone(osVersion: version)
    phone.install(
        InstalledApp(
            bundleID: "com.example.chat", lifecycle: .application, methods: [], backgroundModes: modes,
            hasServiceExtension: false, permittedTasks: tasks),
        code: ProcessCode { process in
            process.setHandler { callback, reply in
                if case .didFinishLaunching = callback { launch() }
                reply()
            }
        })
    await phone.launch()
    return phone
}
