import Dispatch
import TidingsModel

/// On Linux any thread may serve the main queue, which is the main actor's, so the thread does not tell.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: self.key) == true }
}

extension JSONValue {
    /// A list from the root to the visible screen, or the text.
    package var screenText: String {
        switch self {
        case .string(let text): text
        case .array(let elements): elements.map(\.screenText).joined(separator: " > ")
        case .null, .bool, .number, .object: self.text
        }
    }
}
