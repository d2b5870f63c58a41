package import Foundation

/// Apple's `FileProtectionType` (ios-delivery.md §10).
package enum FileProtectionClass: String, Hashable, Sendable {
    /// For what app or extension needs while the phone is locked, which is nearly everything, since messages arrive
    /// then.
    case completeUntilFirstUserAuthentication
    /// For what nobody reads in the background; it may be created while the phone is locked.
    case completeUnlessOpen
}

/// How a file lies on the device. Linux has neither protection classes nor backups; tests record what each file got.
package protocol FileSafety: Sendable {
    /// For a folder, the class of the files that are made in it from now on.
    func protect(_ path: String, as protection: FileProtectionClass) throws
    func excludeFromBackup(_ path: String) throws
}

package struct SystemFileSafety: FileSafety {
    package init() {}

    package func protect(_ path: String, as protection: FileProtectionClass) throws {
        #if os(iOS)
            let type: FileProtectionType =
                switch protection {
                case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
                case .completeUnlessOpen: .completeUnlessOpen
                }
            try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
        #endif
    }

    package func excludeFromBackup(_ path: String) throws {
        #if canImport(Darwin)
            var url = URL(fileURLWithPath: path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try url.setResourceValues(values)
        #endif
    }
}

extension FileSafety {
    /// Sets the class of a folder and of the files that are in it already.
    package func protectAll(in folder: URL, as protection: FileProtectionClass) throws {
        try self.protect(folder.path, as: protection)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            let path = folder.appendingPathComponent(name).path
            // Another process may have put a file in the place of this one meanwhile; its own has the folder's class.
            do { try self.protect(path, as: protection) } catch  where !FileManager.default.fileExists(atPath: path) {}
        }
    }
}
