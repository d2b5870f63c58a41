import Foundation
import TidingsClient
import UIKit

#if TIDINGS_UIKIT
    import VirtualPhone
#endif

@MainActor enum KitSurroundings {
    static func fill(
        _ configuration: ChatClient.Configuration, application: UIApplication
    ) -> ChatClient.Configuration {
        var filled = configuration
        filled.isStartedInForeground = application.applicationState != .background
        if filled.appGroupFolder == nil, let identifier = filled.appGroupIdentifier {
            filled.appGroupFolder = FileManager.default.containerURL(
                forSecurityApplicationGroupIdentifier: identifier)
        }
        #if TIDINGS_UIKIT
            // A virtual phone gives each process a home folder and a bundle identifier of its own.
            if let facts = PhoneProcess.currentIfAny?.facts {
                if filled.storeFolder == nil {
                    filled.storeFolder = URL(fileURLWithPath: facts.home, isDirectory: true)
                        .appendingPathComponent("Library/Application Support/Tidings", isDirectory: true)
                }
                if filled.bundleIdentifier == nil { filled.bundleIdentifier = facts.bundleID }
            }
        #endif
        return filled
    }

    /// Apple's identifier of the model, for example `iPhone16,1`; on a simulator, of the one it stands for.
    static var model: String {
        #if TIDINGS_UIKIT
            return PhoneProcess.currentIfAny?.facts.model ?? ""
        #elseif targetEnvironment(simulator)
            return ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] ?? ""
        #else
            var system = utsname()
            uname(&system)
            return withUnsafeBytes(of: system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #endif
    }
}
