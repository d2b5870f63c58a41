import Foundation
public import PhoneCore
import TidingsModel

/// Another act of a person or the system on a hosted phone: settings, answers on the screen, background chances and the life of an
/// installation.
public enum PhoneChange: Equatable, Sendable {
    case previews(BundleID, ShowPreviews)
    case alertStyle(BundleID, AlertStyle)
    /// Minutes after midnight; none turns the summary off (iOS 15).
    case summaryTimes([Int])
    case backgroundRefresh(isOn: Bool)
    case restrictedRefresh(isOn: Bool)
    /// On is silent.
    case mute(isOn: Bool)
    case notificationSettings(String)
    case appSettings(BundleID)
    case swipeAway(String)
    case provisional(BundleID, keep: Bool)
    case alertPanel(opens: Bool)
    case dismissActivity(BundleID, String)
    case disconnectScene(BundleID)
    case prewarm(BundleID)
    /// The process ends, the data stays.
    case update(BundleID)
    /// The data is gone, the token is a new one.
    case reinstall(BundleID)
    /// On a new device: every token is a new one.
    case restoreFromBackup
    /// For Background Fetch or a refresh task.
    case backgroundChance(BundleID)
    case crossRegion(String, entering: Bool)
    /// The first that rings.
    case answerCall
    /// The first that rings, or else the first that was answered.
    case declineCall

    enum Word: String, CaseIterable {
        case previews, mute, prewarm, update, reinstall, provisional
        case alertStyle = "alert_style"
        case summaryTimes = "summary_times"
        case backgroundRefresh = "background_refresh"
        case restrictedRefresh = "restricted_refresh"
        case notificationSettings = "notification_settings"
        case appSettings = "app_settings"
        case swipeAway = "swipe_away"
        case alertPanel = "alert_panel"
        case dismissActivity = "dismiss_activity"
        case disconnectScene = "disconnect_scene"
        case restoreFromBackup = "restore_from_backup"
        case backgroundChance = "background_chance"
        case crossRegion = "cross_region"
        case answerCall = "answer_call"
        case declineCall = "decline_call"
    }

    init(_ word: Word, _ fields: JSONFields, _ apps: [BundleID]) throws(InvalidField) {
        switch word {
        case .previews: self = .previews(try PhoneCommand.app(fields, apps), try Self.choice(fields, "show"))
        case .alertStyle: self = .alertStyle(try PhoneCommand.app(fields, apps), try Self.choice(fields, "style"))
        case .summaryTimes: self = .summaryTimes(try Self.minutes(fields))
        case .backgroundRefresh: self = .backgroundRefresh(isOn: try fields.get("on"))
        case .restrictedRefresh: self = .restrictedRefresh(isOn: try fields.get("on"))
        case .mute: self = .mute(isOn: try fields.get("on"))
        case .notificationSettings: self = .notificationSettings(try fields.get("notification"))
        case .appSettings: self = .appSettings(try PhoneCommand.app(fields, apps))
        case .swipeAway: self = .swipeAway(try fields.get("notification"))
        case .provisional: self = .provisional(try PhoneCommand.app(fields, apps), keep: try fields.get("keep"))
        case .alertPanel: self = .alertPanel(opens: try fields.get("open"))
        case .dismissActivity: self = .dismissActivity(try PhoneCommand.app(fields, apps), try fields.get("activity"))
        case .disconnectScene: self = .disconnectScene(try PhoneCommand.app(fields, apps))
        case .prewarm: self = .prewarm(try PhoneCommand.app(fields, apps))
        case .update: self = .update(try PhoneCommand.app(fields, apps))
        case .reinstall: self = .reinstall(try PhoneCommand.app(fields, apps))
        case .restoreFromBackup: self = .restoreFromBackup
        case .backgroundChance: self = .backgroundChance(try PhoneCommand.app(fields, apps))
        case .answerCall: self = .answerCall
        case .declineCall: self = .declineCall
        case .crossRegion: self = .crossRegion(try fields.get("region"), entering: try fields.get("entering"))
        }
    }

    /// By its Swift name.
    private static func choice<Choice: CaseIterable>(_ fields: JSONFields, _ key: String) throws(InvalidField) -> Choice
    {
        let text: String = try fields.get(key)
        guard let choice = Choice.allCases.first(where: { "\($0)" == text }) else {
            let allowed = Choice.allCases.map { "\($0)" }.joined(separator: ", ")
            throw InvalidField(field: key, rule: "must be one of \(allowed), got \(text)")
        }
        return choice
    }

    private static func minutes(_ fields: JSONFields) throws(InvalidField) -> [Int] {
        var minutes: [Int] = []
        for element in try fields.get("minutes", as: [JSONValue].self) {
            guard let minute = element.intValue.flatMap({ Int(exactly: $0) }), (0..<1_440).contains(minute) else {
                throw InvalidField(
                    field: "minutes", rule: "must hold whole numbers from 0 to 1439, got \(element.text)")
            }
            minutes.append(minute)
        }
        return minutes
    }
}

extension HostShell {
    func execute(_ change: PhoneChange) throws(InvalidField) {
        switch change {
        case .previews(let app, let previews): self.engine.post(.person(.previewsChanged(app, previews)))
        case .alertStyle(let app, let style): self.engine.post(.person(.alertStyleChanged(app, style)))
        case .summaryTimes(let minutes): self.engine.post(.person(.summaryTimesChanged(minutes)))
        case .backgroundRefresh(let isOn): self.engine.post(.person(.backgroundRefreshChanged(isOn: isOn)))
        case .restrictedRefresh(let isOn): self.engine.post(.system(.backgroundRefreshRestricted(isOn)))
        case .mute(let isOn): self.engine.post(.person(.muteChanged(isOn: isOn)))
        case .notificationSettings(let id): self.engine.post(.person(.notificationSettingsOpened(try self.key(id))))
        case .appSettings(let app): self.engine.post(.person(.appSettingsOpened(app)))
        case .swipeAway(let id): self.engine.post(.person(.bannerSwipedAway(try self.key(id))))
        case .provisional(let app, let keep): self.engine.post(.person(.provisionalAnswered(app, keep: keep)))
        case .alertPanel(let opens): self.engine.post(.person(.alertPanelAnswered(opens: opens)))
        case .dismissActivity(let app, let activity):
            self.engine.post(.person(.activityDismissed(app, activity: activity)))
        case .disconnectScene(let app): self.engine.post(.system(.sceneDisconnected(try self.running(app))))
        case .prewarm(let app): self.engine.post(.system(.prewarmed(app)))
        case .update(let app): self.engine.post(.system(.appUpdated(try self.installed(app))))
        case .reinstall(let app): try self.reinstall(try self.installed(app))
        case .restoreFromBackup:
            PhoneKeychain(path: PhoneFolders(root: self.configuration.folder).keychain).restoreFromBackup()
            self.engine.post(.system(.restoredFromBackup))
        case .backgroundChance(let app): self.engine.post(.system(.backgroundChance(app)))
        case .answerCall: self.engine.post(.person(.callAnswered))
        case .declineCall: self.engine.post(.person(.callDeclined))
        case .crossRegion(let region, let entering):
            self.engine.post(.system(.regionCrossed(region, entered: entering)))
        }
    }

    private func installed(_ app: BundleID) throws(InvalidField) -> InstalledApp {
        guard let installed = self.engine.phone.installedApps.first(where: { $0.bundleID == app }) else {
            throw InvalidField(field: "app", rule: "is not installed: \(app)")
        }
        return installed
    }

    /// The processes are killed before the folders are emptied, but may still be ending; what they hold open is
    /// theirs.
    private func reinstall(_ app: InstalledApp) throws(InvalidField) {
        self.engine.post(.system(.appReinstalled(app)))
        let others = self.engine.phone.installedApps.filter { $0.bundleID != app.bundleID }
        do {
            try PhoneFolders(root: self.configuration.folder).empty(
                app, groupIsShared: others.contains { $0.appGroup == app.appGroup })
        } catch { throw InvalidField(field: "folder", rule: "cannot be emptied: \(error.localizedDescription)") }
    }
}
