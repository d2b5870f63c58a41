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
}
