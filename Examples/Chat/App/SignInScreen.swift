import TidingsUI
import UIKit

/// Asks for user name and password, and says what is wrong with them.
@MainActor final class SignInScreen: UIViewController, UITextFieldDelegate {
    private weak var chat: ChatSession?
    private let user = UITextField()
    private let password = UITextField()
    private let server = UITextField()
    private let button = UIButton(type: .system)
    private let progress = UIActivityIndicatorView(style: .medium)
    private let problem = UILabel()

    /// - Parameter reason: why the person is here, if they did not sign out.
    init(chat: ChatSession, telling reason: String? = nil) {
        self.chat = chat
        super.init(nibName: nil, bundle: nil)
        self.title = "Sign In"
        self.user.text = chat.configuration.proposedUser
        self.server.text = chat.configuration.addresses.backend.absoluteString
        self.problem.text = reason
    }

    required init?(coder: NSCoder) { return nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        self.view.backgroundColor = .systemBackground
        self.prepare(self.user, "User name", .username, .next)
        self.prepare(self.password, "Password", .password, .go)
        self.password.isSecureTextEntry = true
        self.prepare(self.server, "Server", .URL, .go)
        self.server.keyboardType = .URL
        self.button.setTitle("Sign In", for: .normal)
        self.button.addAction(UIAction { [weak self] _ in self?.signIn() }, for: .touchUpInside)
        self.problem.font = .preferredFont(forTextStyle: .footnote)
        self.problem.adjustsFontForContentSizeCategory = true
        self.problem.textColor = .systemRed
        self.problem.numberOfLines = 0
        self.problem.isHidden = self.problem.text == nil
        self.progress.hidesWhenStopped = true
        let column = UIStackView(arrangedSubviews: [
            self.user, self.password, self.server, self.problem, self.button, self.progress,
        ])
        column.axis = .vertical
        column.spacing = 12
        column.translatesAutoresizingMaskIntoConstraints = false
        self.view.addSubview(column)
        let area = self.view.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            column.leadingAnchor.constraint(equalTo: area.leadingAnchor, constant: 24),
            column.trailingAnchor.constraint(equalTo: area.trailingAnchor, constant: -24),
            column.topAnchor.constraint(equalTo: area.topAnchor, constant: 24),
        ])
    }

    private func prepare(
        _ field: UITextField, _ name: String, _ content: UITextContentType, _ key: UIReturnKeyType
    ) {
        field.placeholder = name
        field.accessibilityLabel = name
        field.font = .preferredFont(forTextStyle: .body)
        field.adjustsFontForContentSizeCategory = true
        field.borderStyle = .roundedRect
        field.textContentType = content
        field.returnKeyType = key
        field.autocapitalizationType = .none
        field.autocorrectionType = .no
        field.delegate = self
    }

    func textFieldShouldReturn(_ textField: UITextField) -> Bool {
        if textField === self.user {
            _ = self.password.becomeFirstResponder()
        } else {
            self.signIn()
        }
        return true
    }

    private func signIn() {
        // The return key is there although the button is not.
        guard self.button.isEnabled else { return }
        let user = (self.user.text ?? "").trimmingCharacters(in: .whitespaces)
        let password = self.password.text ?? ""
        guard !user.isEmpty, !password.isEmpty else {
            return self.showMessage("Enter your user name and your password.")
        }
        guard let address = URL(string: self.server.text ?? ""), let scheme = address.scheme,
            ["http", "https"].contains(scheme), address.host != nil
        else { return self.showMessage("The server must be an address such as https://chat.example.com.") }
        self.view.endEditing(true)
        self.setBusy(true)
        Task { [weak self, chat = self.chat] in
            do {
                try await chat?.signIn(user: user, password: password, at: address)
            } catch {
                self?.setBusy(false)
                self?.showMessage("\(error)")
            }
        }
    }

    private func setBusy(_ isBusy: Bool) {
        self.button.isEnabled = !isBusy
        self.problem.isHidden = true
        if isBusy { self.progress.startAnimating() } else { self.progress.stopAnimating() }
    }

    private func showMessage(_ text: String) {
        self.problem.text = text
        self.problem.isHidden = false
        UIAccessibility.post(notification: .announcement, argument: text)
    }
}
