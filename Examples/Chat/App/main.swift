import Foundation
import TidingsKit
import UIKit
import VirtualPhone

// The place of Apple's `UIApplicationMain`. In an Xcode project this file is gone and one delegate is marked `@main`.
do {
    let configuration = try AppConfiguration(
        ProcessInfo.processInfo.environment, remembered: AccountStore().signedIn?.addresses)
    var app = VirtualApp(
        delegates: DelegateMethods(named: configuration.methods),
        lifecycle: configuration.usesScenes ? .scenes : .application)
    app.withheld = DelegateMethods(named: configuration.delegate.methods).subtracting(app.delegates)
    switch configuration.delegate {
    case .modern:
        app.run(delegate: AppDelegate(configuration: configuration), sceneDelegate: { SceneDelegate() })
    case .legacy: app.run(delegate: LegacyAppDelegate(configuration: configuration))
    }
} catch {
    FileHandle.standardError.write(Data("chat: \(error)\n".utf8))
    exit(2)
}

extension DelegateMethods {
    fileprivate init(named names: [String]) {
        let methods: [String: DelegateMethods] = [
            "didReceiveRemoteNotification": .receiveRemote, "didReceiveRemoteNotificationFetch": .receiveRemoteFetch,
            "didReceiveLocalNotification": .receiveLocal, "performFetch": .performFetch, "willPresent": .willPresent,
            "didReceive": .receiveResponse, "handleRemoteAction": .actionRemote,
            "handleRemoteActionWithResponseInfo": .actionRemoteText, "handleLocalAction": .actionLocal,
            "handleLocalActionWithResponseInfo": .actionLocalText,
        ]
        self.init(names.compactMap { methods[$0] })
    }
}
