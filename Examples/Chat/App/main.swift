import Foundation
import TidingsKit
import UIKit
import VirtualPhone

// The place of Apple's `UIApplicationMain`. In an Xcode project this file is gone and one delegate is marked `@main`.
do {
    let environment = try ChatEnvironment()
    switch environment.delegate {
    case .modern:
        VirtualApp(
            delegates: [.receiveRemote, .receiveRemoteFetch, .performFetch, .willPresent, .receiveResponse],
            lifecycle: environment.usesScenes ? .scenes : .application
        ).run(delegate: AppDelegate(environment: environment), sceneDelegate: { SceneDelegate() })
    case .legacy:
        VirtualApp(
            delegates: [
                .receiveRemote, .receiveRemoteFetch, .receiveLocal, .performFetch, .actionRemote, .actionRemoteText,
                .actionLocal, .actionLocalText,
            ], lifecycle: .application
        ).run(delegate: LegacyAppDelegate(environment: environment))
    }
} catch {
    FileHandle.standardError.write(Data("chat: \(error)\n".utf8))
    exit(2)
}
