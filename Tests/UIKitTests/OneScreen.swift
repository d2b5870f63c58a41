import PhoneCore
import TidingsModel
import UIKit
import VirtualPhone

/// An app of one screen whose view the test fills, or of what the test makes its root.
final class OneScreen: UIResponder, UIApplicationDelegate {
    var window: UIWindow?
    let screen = UIViewController(nibName: nil, bundle: nil)
    var root: UIViewController?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let window = UIWindow(frame: UIScreen.main.bounds)
        window.rootViewController = self.root ?? self.screen
        window.makeKeyAndVisible()
        self.window = window
        return true
    }

    /// A phone with the app in the foreground.
    func phone() async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: 15)
        phone.install(
            InstalledApp(bundleID: "com.example.views", lifecycle: .application, methods: .modern),
            code: VirtualApp(delegates: .modern, lifecycle: .application).code { self })
        await phone.launch()
        return phone
    }
}

extension UILabel {
    static func saying(_ text: String) -> UILabel {
        let label = UILabel()
        label.text = text
        return label
    }
}

extension VirtualPhone {
    /// What is called so on the screen.
    func view(_ name: String) -> ViewNode? { self.views().reversed().lazy.compactMap { $0.first(name) }.first }
    /// All of a role, back to front.
    func all(_ role: ViewNode.Role) -> [ViewNode] { self.views().flatMap { $0.all(role) } }
    /// What is written on the rows, from the top.
    var rows: [[String]] { self.all(.row).map(\.texts) }
}

extension ViewNode {
    func all(_ role: Role) -> [ViewNode] { (self.role == role ? [self] : []) + self.children.flatMap { $0.all(role) } }
}
