import PhoneCore
import Testing
import TidingsModel
import UIKit
import VirtualPhone

// The screen of docs/app/screens.md, on a phone: the tidy test holds that the page shows these lines.

@MainActor final class GreetingScreen: UIViewController {
    private let field = UITextField()
    private let answer = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        self.title = "Greetings"
        self.view.backgroundColor = .systemBackground
        self.field.accessibilityLabel = "Your name"
        self.answer.font = .preferredFont(forTextStyle: .body)
        self.answer.adjustsFontForContentSizeCategory = true
        let button = UIButton(type: .system)
        button.setTitle("Greet", for: .normal)
        button.addAction(UIAction { [weak self] _ in self?.greet() }, for: .touchUpInside)
        let stack = UIStackView(arrangedSubviews: [self.field, button, self.answer])
        stack.axis = .vertical
        stack.translatesAutoresizingMaskIntoConstraints = false
        self.view.addSubview(stack)
        let area = self.view.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            stack.leadingAnchor.constraint(equalTo: area.leadingAnchor),
            stack.trailingAnchor.constraint(equalTo: area.trailingAnchor),
            stack.topAnchor.constraint(equalTo: area.topAnchor),
        ])
    }

    private func greet() { self.answer.text = "Hello, \(self.field.text ?? "")" }
}

@MainActor final class GreetingApp: UIResponder, UIApplicationDelegate {
    var window: UIWindow?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let window = UIWindow(frame: UIScreen.main.bounds)
        window.rootViewController = UINavigationController(rootViewController: GreetingScreen())
        window.makeKeyAndVisible()
        self.window = window
        return true
    }
}

@MainActor @Suite struct `A screen of one's own` {
    @Test func `greets who has typed their name`() async {
        let phone = VirtualPhone(osVersion: 26)
        phone.install(
            InstalledApp(bundleID: "com.example.greetings", lifecycle: .application),
            code: VirtualApp(lifecycle: .application).code { GreetingApp() })
        await phone.launch()
        #expect(phone.views().flatMap(\.texts).contains("Greetings"))
        #expect(await phone.touch("Your name", .enter("Ada")))
        #expect(await phone.touch("Greet"))
        #expect(phone.views().flatMap(\.texts).contains("Hello, Ada"))
        #expect(phone.faults == [])
    }
}
