package import PhoneCore

extension ExpectKey {
    /// The words that its value, or each row of it, is one of.
    var words: String {
        switch self.form {
        case .words(let words), .word(let words): words.joined(separator: ", ")
        default: ""  // tidy: the others are no words
        }
    }
}

package enum MethodWords {
    static let all: [(String, DelegateMethods)] = [
        ("didReceiveRemoteNotification", .receiveRemote),
        ("didReceiveRemoteNotificationFetch", .receiveRemoteFetch),
        ("didReceiveLocalNotification", .receiveLocal),
        ("willPresent", .willPresent),
        ("didReceive", .receiveResponse),
        ("openSettings", .openSettings),
        ("performFetch", .performFetch),
        ("handleRemoteAction", .actionRemote),
        ("handleLocalAction", .actionLocal),
        ("handleRemoteActionWithResponseInfo", .actionRemoteText),
        ("handleLocalActionWithResponseInfo", .actionLocalText),
    ]
    package static let words = Self.all.map(\.0)

    /// - Returns: nil for a word that names none.
    package static func method(named word: String) -> DelegateMethods? { Self.all.first { $0.0 == word }?.1 }

    /// Returns the words that `implements` of a scenario has for the methods.
    package static func words(of methods: DelegateMethods) -> [String] {
        Self.all.filter { methods.contains($0.1) }.map(\.0)
    }
}

enum Entitlement: String, CaseIterable {
    case filtering, timeSensitive = "time-sensitive", criticalAlerts = "critical-alerts", communication
    static let words = Self.allCases.map(\.rawValue)
}
