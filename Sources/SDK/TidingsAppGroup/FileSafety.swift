package import Foundation

/// When the system lets a file be read (Apple's `FileProtectionType`; ios-delivery.md §10).
package enum FileProtectionClass: String, Hashable, Sendable {
    /// From the first unlock after a restart on: for what app or extension needs while the phone is locked, which is nearly all,
    /// since messages arrive then.
    case completeUntilFirstUserAuthentication
    /// Not while the phone is locked, but it may be made then: for what nobody reads in the background.
    case completeUnlessOpen
}

/// How a file lies on the device. Linux has neither protection classes nor backups: there a test sees what each file got.
package protocol FileSafety: Sendable {
    /// Sets the class of a file, or of a folder for the files that are made in it from now on.
    ///
    /// - Throws: an error of the file system.
    func protect(_ path: String, as protection: FileProtectionClass) throws
    /// Keeps a file, or a folder with everything in it, out of backups.
    ///
    /// - Throws: an error of the file system.
    func excludeFromBackup(_ path: String) throws
}

/// The system's own way.
package struct SystemFileSafety: FileSafety {
    /// The system's.
    package init() {}

    #if canImport(Darwin)
        /// Sets `FileAttributeKey.protectionKey`.
        ///
        /// - Throws: Foundation's errors.
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

        /// Sets `isExcludedFromBackup`.
        ///
        /// - Throws: Foundation's errors.
        package func excludeFromBackup(_ path: String) throws {
            var url = URL(fileURLWithPath: path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try url.setResourceValues(values)
        }
    #else
        /// Nothing: there are no classes here.
        package func protect(_ path: String, as protection: FileProtectionClass) throws {}
        /// Nothing: the system makes no backups here.
        package func excludeFromBackup(_ path: String) throws {}
    #endif
}

extension FileSafety {
    /// Sets the class of a folder and of the files that are in it already.
    ///
    /// - Throws: an error of the file system.
    package func protectAll(in folder: URL, as protection: FileProtectionClass) throws {
        try self.protect(folder.path, as: protection)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            let path = folder.appendingPathComponent(name).path
            // Another process may have put a file in the place of this one meanwhile; its own has the folder's class.
            do { try self.protect(path, as: protection) } catch  where !FileManager.default.fileExists(atPath: path) {}
        }
    }
}
