import Foundation
import UIKit
import VirtualPhone

// An app of one screen, in a process of its own: a button that counts, one whose work is done by a task later, and as many more
// labels as SCREEN_LABELS says.

final class CountingScreen: UIViewController {
    private let count = UILabel()
    private var taps = 0

    override func viewDidLoad() {
        super.viewDidLoad()
        self.count.text = "0 taps"
        let now = UIButton(type: .system, primaryAction: UIAction(title: "Count") { [weak self] _ in self?.add() })
        let later = UIButton(
            type: .system,
            primaryAction: UIAction(title: "Count Later") { [weak self] _ in
                Task {
                    try? await Task.sleep(for: .milliseconds(50))
                    self?.add()
                }
            })
        let more = Int(ProcessInfo.processInfo.environment["SCREEN_LABELS"] ?? "") ?? 0
        let labels = (0..<more).map { number in
            let label = UILabel()
            label.text = "label \(number)"
            return label
        }
        let stack = UIStackView(arrangedSubviews: [self.count, now, later] + labels)
        stack.axis = .vertical
        self.view.addSubview(stack)
    }

    private func add() {
        self.taps += 1
        self.count.text = "\(self.taps) taps"
    }
}

final class AppDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let window = UIWindow(frame: UIScreen.main.bounds)
        window.rootViewController = CountingScreen()
        window.makeKeyAndVisible()
        self.window = window
        return true
    }
}

VirtualApp(delegates: .modern, lifecycle: .application).run(delegate: AppDelegate())
