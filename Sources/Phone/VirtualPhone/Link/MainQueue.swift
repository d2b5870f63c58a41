import Dispatch
import TidingsModel

/// Whether this code runs on the main queue, which is the main actor's. On Linux the main queue may be served by any
/// thread, so the thread's own word does not tell.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether this code runs on it.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: self.key) == true }
}

extension JSONValue {
    /// What an app reported of its screen, in words: a list from the root to the visible one, or the text.
    package var screenText: String {
        switch self {
        case .string(let text): text
        case .array(let elements): elements.map(\.screenText).joined(separator: " > ")
        case .null, .bool, .number, .object: self.text
        }
    }
}
