import TidingsUI
import UIKit

/// The conversations, and a way to begin one.
@MainActor final class ConversationsScreen: ConversationListViewController {
    private weak var chat: ChatSession?

    init(chat: ChatSession) {
        self.chat = chat
        super.init()
        self.title = "Conversations"
        self.navigationItem.rightBarButtonItem = UIBarButtonItem(
            systemItem: .compose, primaryAction: UIAction(title: "New Chat") { [weak self] _ in self?.askWhom() })
        self.navigationItem.rightBarButtonItem?.accessibilityLabel = "New Chat"
    }

    required init?(coder: NSCoder) { return nil }

    private func askWhom() {
        let alert = UIAlertController(title: "New Chat", message: "With whom?", preferredStyle: .alert)
        alert.addTextField { field in
            field.placeholder = "User name"
            field.autocapitalizationType = .none
            field.autocorrectionType = .no
        }
        alert.addAction(UIAlertAction(title: "Cancel", style: .cancel))
        alert.addAction(
            UIAlertAction(title: "Open", style: .default) { [weak self, weak alert] _ in
                let name = (alert?.textFields?.first?.text ?? "").trimmingCharacters(in: .whitespaces)
                guard !name.isEmpty else { return }
                self?.chat?.open(ConversationID(type: .direct, target: name))
            })
        self.present(alert, animated: true)
    }
}

/// What a person may change: their name, what rings, their devices, and whether they are signed in.
@MainActor final class SettingsScreen: UITableViewController {
    private enum Row: Int, CaseIterable { case name, notifications, devices, signOut }

    private weak var chat: ChatSession?
    private var name = ""

    init(chat: ChatSession) {
        self.chat = chat
        super.init(style: .insetGrouped)
        self.title = "Settings"
    }

    required init?(coder: NSCoder) { return nil }

    override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        self.readName()
    }

    private func readName() {
        Task { [weak self, chat = self.chat] in
            guard let user = chat?.client.userID else { return }
            let profile = (try? await chat?.client.profiles(of: [user]))?.first?.profile
            self?.name = profile?.name ?? user.rawValue
            self?.tableView.reloadData()
        }
    }

    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { Row.allCases.count }

    override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        let cell = UITableViewCell(style: .value1, reuseIdentifier: nil)
        cell.accessoryType = .disclosureIndicator
        switch Row(rawValue: indexPath.row) {
        case .name?:
            cell.textLabel?.text = "Name"
            cell.detailTextLabel?.text = self.name
        case .notifications?: cell.textLabel?.text = "Notifications"
        case .devices?: cell.textLabel?.text = "My Devices"
        case .signOut?, nil:
            cell.textLabel?.text = "Sign Out"
            cell.textLabel?.textColor = .systemRed
            cell.accessoryType = .none
        }
        return cell
    }

    override func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        tableView.deselectRow(at: indexPath, animated: true)
        switch Row(rawValue: indexPath.row) {
        case .name?: self.askName()
        case .notifications?: self.push(NotificationSettingsViewController())
        case .devices?: self.push(DevicesViewController())
        case .signOut?, nil: Task { [chat = self.chat] in await chat?.signOut() }
        }
    }

    private func push(_ screen: UIViewController) {
        self.navigationController?.pushViewController(screen, animated: true)
    }

    private func askName() {
        let alert = UIAlertController(title: "Name", message: "What others see", preferredStyle: .alert)
        alert.addTextField { [name = self.name] field in
            field.placeholder = "Name"
            field.text = name
        }
        alert.addAction(UIAlertAction(title: "Cancel", style: .cancel))
        alert.addAction(
            UIAlertAction(title: "Save", style: .default) { [weak self, weak alert] _ in
                self?.save(alert?.textFields?.first?.text ?? "")
            })
        self.present(alert, animated: true)
    }

    private func save(_ name: String) {
        Task { [weak self, chat = self.chat] in
            do {
                guard let chat else { return }
                guard let user = chat.client.userID else {
                    self?.showMessage("There is no connection yet.")
                    return
                }
                // The whole profile is set: what else is in it stays.
                var profile = try await chat.client.profiles(of: [user]).first?.profile ?? Profile()
                profile.name = name
                try await chat.client.setProfile(profile)
                chat.forgetNames()
                self?.readName()
            } catch {
                self?.showMessage("\(error)")
            }
        }
    }

    private func showMessage(_ text: String) {
        let alert = UIAlertController(title: "That did not work", message: text, preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: "OK", style: .default))
        self.present(alert, animated: true)
    }
}
