public import Foundation
import VirtualPhone

extension FileManager {
    /// The shared folder of an app group; nil if the process does not belong to it. Foundation has this on Apple's systems
    /// only.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        PhoneProcess.currentIfAny?.facts.groups[groupIdentifier].map { URL(fileURLWithPath: $0, isDirectory: true) }
    }
}
