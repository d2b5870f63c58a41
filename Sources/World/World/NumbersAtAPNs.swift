import APNsCore
import APNsModel
import TidingsModel

/// Follows alerts that are nothing but a number, none of which APNs keeps for a phone that is off (docs/inside/decisions/0033-badge-pushes.md).
struct NumbersAtAPNs {
    /// By `apns-id`, until one arrives or is lost.
    private var numbers: Set<String> = []
    /// The `apns-id` of the push that waits for a phone, by its token: APNs keeps one of an app.
    private var kept: [String: String] = [:]

    mutating func add(_ request: APNsRequest, as apnsID: String) {
        guard request.pushType == .alert, request.collapseID == BadgeInfo.identifier else { return }
        self.numbers.insert(apnsID)
    }

    /// The situations that a line of APNs's log is.
    mutating func marks(of entry: DeliveryLogEntry) -> [WorldMark] {
        guard let token = entry.token else { return [] }
        switch entry.event {
        case .stored:
            self.kept[token] = entry.apnsID
            return []
        case .discarded where self.numbers.remove(entry.apnsID) != nil:
            return self.kept[token] == nil ? [.lostNumbers] : [.lostNumbers, .numbersBesideKept]
        case .delivered, .discarded, .overwritten:
            self.numbers.remove(entry.apnsID)
            if self.kept[token] == entry.apnsID { self.kept.removeValue(forKey: token) }
            return []
        case .accepted, .refused, .answerLost, .faulted, .held, .sent, .returned, .duplicated: return []
        }
    }
}
