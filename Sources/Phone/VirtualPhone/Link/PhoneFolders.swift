import Foundation
import PhoneCore

/// The folders of a phone: a home for each app and one for each of its extensions, and one for each app group.
///
/// ```text
/// FOLDER/apps/BUNDLE/home        the app's
/// FOLDER/apps/BUNDLE/extension   its service extension's
/// FOLDER/apps/BUNDLE/content     its content extension's
/// FOLDER/groups/GROUP            shared, with the defaults of the suite GROUP
/// FOLDER/keychain.json           the keychain
/// FOLDER/protected               what processes are told to go through: a link to FOLDER, or to nothing
/// ```
///
/// Until the first unlock after a restart nothing of it can be read or written (ios-delivery.md §10): the link leads to a
/// place where no file can be. Linux has no data protection, and root may read everything, so the way is what is closed.
struct PhoneFolders {
    let root: String

    /// The same, the way that processes are told.
    var protected: PhoneFolders { PhoneFolders(root: "\(self.root)/protected") }

    func group(_ name: String) -> String { "\(self.root)/groups/\(name)" }
    var keychain: String { "\(self.root)/keychain.json" }

    func home(of app: BundleID, _ role: ProcessID.Role = .app) -> String {
        switch role {
        case .app: "\(self.root)/apps/\(app)/home"
        case .serviceExtension: "\(self.root)/apps/\(app)/extension"
        case .contentExtension: "\(self.root)/apps/\(app)/content"
        }
    }

    private static let extensions: [ProcessID.Role] = [.serviceExtension, .contentExtension]

    func make(for app: InstalledApp) throws {
        let paths =
            ([.app] + Self.extensions).map { self.home(of: app.bundleID, $0) + "/tmp" }
            + [self.home(of: app.bundleID) + "/.config"]
            + (app.appGroup.map { [self.group($0) + "/Library/Preferences"] } ?? [])
        for path in paths { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        if let group = app.appGroup { try self.keepDefaults(of: group, in: app.bundleID) }
        // `UserDefaults(suiteName:)` of app and extension is one store, as with an app group; standard defaults are named
        // after the executable and stay apart.
        for role in Self.extensions {
            let shared = self.home(of: app.bundleID, role) + "/.config"
            guard (try? FileManager.default.destinationOfSymbolicLink(atPath: shared)) == nil else { continue }
            try FileManager.default.createSymbolicLink(atPath: shared, withDestinationPath: "../home/.config")
        }
    }

    /// The defaults of the suite with the group's name lie in the group, so that every app of the group shares them.
    private func keepDefaults(of group: String, in app: BundleID) throws {
        let link = "\(self.home(of: app))/.config/\(group).plist"
        let kept = "Library/Preferences/\(group).plist"
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil else { return }
        if FileManager.default.fileExists(atPath: link) {
            // From a phone's folder that kept them with the app.
            guard !FileManager.default.fileExists(atPath: "\(self.group(group))/\(kept)") else { return }
            try FileManager.default.moveItem(atPath: link, toPath: "\(self.group(group))/\(kept)")
        }
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "../../../../groups/\(group)/\(kept)")
    }

    /// A group goes with its last app.
    func empty(_ app: InstalledApp, groupIsShared: Bool) throws {
        for role in [.app] + Self.extensions {
            try? FileManager.default.removeItem(atPath: self.home(of: app.bundleID, role))
        }
        if let group = app.appGroup, !groupIsShared { try? FileManager.default.removeItem(atPath: self.group(group)) }
        try self.make(for: app)
    }

    func setProtected(_ isProtected: Bool) throws {
        let link = "\(self.root)/protected"
        let target = isProtected ? "/dev/null" : "."
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) != target else { return }
        let next = "\(self.root)/protected.\(UUID().uuidString)"
        try FileManager.default.createSymbolicLink(atPath: next, withDestinationPath: target)
        // Renaming replaces the link in one step, so no process ever finds nothing (rename(2)).
        guard rename(next, link) == 0 else {
            try? FileManager.default.removeItem(atPath: next)
            throw CocoaError(.fileWriteUnknown)
        }
    }
}
