import Foundation
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications

/// The screen of what may ring: what iOS allows, the level of each kind of conversation, quiet hours, hidden content, banners while the app
/// is open, and the people whom the person has blocked. Settings hold on all of the person's devices, but for the banners.
///
/// ```swift
/// self.navigationController?.pushViewController(NotificationSettingsViewController(), animated: true)
/// ```
@MainActor open class NotificationSettingsViewController: FormViewController {
    private var form = NotificationForm()

    open override func viewDidLoad() {
        super.viewDidLoad()
        self.title = self.words.notifications
        self.tableView.accessibilityIdentifier = "tidings.notifications"
        self.followers.follow(self.client.logEntries) { [weak self] entry in
            switch entry.body {
            case .personSettings, .blocked: self?.update()
            case .message, .read, .custom, .recall, .edit, .deletion, .change, .conversationSettings, .unknown: break
            }
        }
        // The person may come back from the Settings app.
        self.followers.follow(self.client.runStates) { [weak self] _ in self?.askSystem() }
    }

    open override func refresh() {
        guard let settings = try? self.client.settings() else { return }
        self.form.person = settings.person
        self.form.types = self.interface.configuration.conversationTypes
        self.form.ringsInForeground = self.client.ringsInForeground
        self.form.blocked = settings.blocked.map {
            NotificationForm.Named(user: $0, name: self.interface.knownName(of: $0, in: nil) ?? $0.rawValue)
        }
        self.sections = self.form.sections(self.words)
    }

    override func forget() { self.form = NotificationForm(system: self.form.system) }

    private func askSystem() {
        Task { [weak self] in
            let settings = await UNUserNotificationCenter.current().notificationSettings()
            self?.form.system = SystemPermission(settings)
            self?.update()
        }
    }

    // MARK: What a person does

    override func didSwitch(_ row: FormRow, isOn: Bool) {
        switch row.id {
        case "quiet":
            let hours = isOn ? NotificationForm.usualHours(in: TimeZone.current.identifier) : nil
            self.change(row) { try self.client.setQuietHours(hours) }
        case "quiet.later": self.changeQuietHours(row) { $0.manner = isOn ? .defer : .drop }
        case "hides": self.change(row) { try self.client.setHidesNotificationContent(isOn) }
        case "rings": self.change(row) { ForegroundRinging(client: self.client).isOn = isOn }
        default: break
        }
    }

    override func didSet(_ row: FormRow, minutes: Int) {
        self.changeQuietHours(row) { hours in
            if row.id == "quiet.from" { hours.start = minutes } else { hours.end = minutes }
        }
    }

    private func changeQuietHours(_ row: FormRow, _ change: (inout QuietHours) -> Void) {
        guard var hours = self.form.person.quietHours else { return }
        change(&hours)
        self.change(row) { try self.client.setQuietHours(hours) }
    }

    override func didChoose(_ row: FormRow) {
        if row.id == "system.open" {
            guard let settings = URL(string: UIApplication.openSettingsURLString) else { return }
            UIApplication.shared.open(settings)
        } else if let type = self.form.types.first(where: { row.id == "level.\($0.rawValue)" }) {
            self.chooseLevel(row, of: type, self.form.person.levels[type] ?? .all, offersKind: false) {
                [weak self] level in
                guard let self, let level else { return }
                self.change(row) { try self.client.setNotificationLevel(level, forAll: type) }
            }
        }
    }

    private func blocked(_ row: FormRow) -> NotificationForm.Named? {
        self.form.blocked.first { row.id == "blocked.\($0.user)" }
    }

    override func didSwipe(_ row: FormRow) {
        guard let person = self.blocked(row) else { return }
        self.confirm(\.askUnblock, person.name, button: self.words.unblock) { [weak self] in
            self?.request { try await $0.unblock(person.user) }
        }
    }

    override func willShow(_ row: FormRow) {
        guard let user = self.blocked(row)?.user, self.interface.knownName(of: user, in: nil) == nil else { return }
        Task { [weak self, interface = self.interface] in
            _ = await interface.name(of: user, in: nil)
            self?.update()
        }
    }
}

extension SystemPermission {
    init(_ settings: UNNotificationSettings) {
        switch settings.authorizationStatus {
        case .notDetermined: self.answer = .unasked
        case .denied: self.answer = .denied
        case .provisional: self.answer = .quiet
        case .authorized, .ephemeral: self.answer = .allowed
        @unknown default: self.answer = .allowed
        }
        self.banners = settings.alertSetting == .enabled
        self.sounds = settings.soundSetting == .enabled
        self.badge = settings.badgeSetting == .enabled
    }
}

/// The person's choice on this phone if messages of other screens ring while the app is open.
@MainActor struct ForegroundRinging {
    let client: ChatClient
    var defaults = UserDefaults.standard

    var key: String { "tidings.rings_in_foreground.\(self.client.configuration.appKey)" }

    /// Kept for the next launch, and true of the client at once.
    var isOn: Bool {
        get { self.client.ringsInForeground }
        nonmutating set {
            self.defaults.set(newValue, forKey: self.key)
            self.client.ringsInForeground = newValue
        }
    }

    /// Sets the client as the person has chosen, if they have.
    func restore() {
        guard let chosen = self.defaults.object(forKey: self.key) as? Bool else { return }
        self.client.ringsInForeground = chosen
    }
}
