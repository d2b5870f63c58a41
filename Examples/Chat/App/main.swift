import Foundation
import TidingsKit
import UIKit
import VirtualPhone

// The place of Apple's `UIApplicationMain`. In an Xcode project this file is gone and `AppDelegate` is marked `@main`.
do {
    let environment = try ChatEnvironment()
    let appDelegate = AppDelegate(environment: environment)
    VirtualApp(delegates: .modern, lifecycle: environment.usesScenes ? .scenes : .application)
        .run(delegate: appDelegate, sceneDelegate: { SceneDelegate(appDelegate: appDelegate) })
} catch {
    FileHandle.standardError.write(Data("chat: \(error)\n".utf8))
    exit(2)
}
