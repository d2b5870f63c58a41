import Foundation
import PhoneCore

/// The folders of a phone: a home for each app and one for its extension, and one for each app group.
///
/// ```text
/// FOLDER/apps/BUNDLE/home        the app's
/// FOLDER/apps/BUNDLE/extension   its extension's
/// FOLDER/groups/GROUP            shared
/// FOLDER/protected               what processes are told to go through: a link to FOLDER, or to nothing
/// ```
///
/// Until the first unlock after a restart nothing of it can be read or written (ios-delivery.md §10): the link leads to a
/// place where no file can be. Linux has no data protection, and root may read everything, so the way is what is closed.
struct PhoneFolders {
    /// The phone's folder.
    let root: String

    /// An app's own folder, as the host sees it.
    func home(of app: BundleID, isApp: Bool) -> String { "\(self.root)/\(Self.home(app, isApp: isApp))" }
    /// An app group's folder, as the host sees it.
    func group(_ name: String) -> String { "\(self.root)/groups/\(name)" }
    /// An app's own folder, as its process sees it.
    func protectedHome(of app: BundleID, isApp: Bool) -> String {
        "\(self.root)/protected/\(Self.home(app, isApp: isApp))"
    }
    /// An app group's folder, as a process sees it.
    func protectedGroup(_ name: String) -> String { "\(self.root)/protected/groups/\(name)" }

    private static func home(_ app: BundleID, isApp: Bool) -> String { "apps/\(app)/\(isApp ? "home" : "extension")" }

    /// Makes the folders of an app.
    func make(for app: InstalledApp) throws {
        let paths =
            [self.home(of: app.bundleID, isApp: true), self.home(of: app.bundleID, isApp: false)]
            + (app.appGroup.map { [self.group($0)] } ?? [])
        for path in paths { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        // `UserDefaults(suiteName:)` of app and extension is one store, as with an app group; standard defaults are named
        // after the executable and stay apart.
        let shared = self.home(of: app.bundleID, isApp: false) + "/.config"
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: shared)) == nil else { return }
        try FileManager.default.createDirectory(
            atPath: self.home(of: app.bundleID, isApp: true) + "/.config", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: shared, withDestinationPath: "../home/.config")
    }

    /// Removes what an app kept, as a removal does, and makes its folders anew. A group goes with its last app.
    func empty(_ app: InstalledApp, groupIsShared: Bool) throws {
        for isApp in [true, false] {
            try? FileManager.default.removeItem(atPath: self.home(of: app.bundleID, isApp: isApp))
        }
        if let group = app.appGroup, !groupIsShared {
            try? FileManager.default.removeItem(atPath: self.group(group))
        }
        try self.make(for: app)
    }

    /// Opens or closes the way to the folders.
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
