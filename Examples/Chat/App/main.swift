import Foundation
import TidingsKit
import UIKit
import VirtualPhone

// The place of Apple's `UIApplicationMain`. In an Xcode project this file is gone and one delegate is marked `@main`.
do {
    let configuration = try AppConfiguration(
        ProcessInfo.processInfo.environment, remembered: AccountStore().signedIn?.addresses)
    switch configuration.delegate {
    case .modern:
        VirtualApp(
            delegates: [.receiveRemote, .receiveRemoteFetch, .performFetch, .willPresent, .receiveResponse],
            lifecycle: configuration.usesScenes ? .scenes : .application
        ).run(delegate: AppDelegate(configuration: configuration), sceneDelegate: { SceneDelegate() })
    case .legacy:
        VirtualApp(
            delegates: [
                .receiveRemote, .receiveRemoteFetch, .receiveLocal, .performFetch, .actionRemote, .actionRemoteText,
                .actionLocal, .actionLocalText,
            ], lifecycle: .application
        ).run(delegate: LegacyAppDelegate(configuration: configuration))
    }
} catch {
    FileHandle.standardError.write(Data("chat: \(error)\n".utf8))
    exit(2)
}
