// P3, where it cannot hold: iOS before 15 knows no interruption levels, and shows a banner of what kit and extension
// have silenced. Such a banner is counted apart, and bounded: no sound, and once for each push or post that was
// silenced.
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

struct SilenceLimit {
    static let kinds = FactKinds(.lacks, .extended, .posted, .fetched, .presented)

    private struct Place: Hashable {
        var device: DeviceKey
        var identifier: String
    }

    private var old: OrderedSet<DeviceID> = []
    /// The number of banners, by place, that kit and extension have silenced and the system has not shown yet.
    private var silenced: OrderedDictionary<Place, Int> = [:]

    /// The fact as checkers see it: a banner that could not be silenced is no presentation of theirs.
    mutating func rewrite(_ fact: Fact) -> Fact {
        switch fact {
        case .lacksLevels(let device): self.old.append(device)
        case .extended(let message, let isQuiet, _, let key): if isQuiet { self.silence(message, on: key) }
        case .posted(let notification, let key, _):
            if notification.isSilent { self.silence(notification.message, on: key) }
        case .fetched(let posts, _, let key):
            for post in posts where post.isSilent { self.silence(post.message.message, on: key) }
        case .presented(let record, let key) where record.banner && !record.sound:
            let place = Place(device: key, identifier: record.identifier)
            guard let left = self.silenced[place], left > 0 else { return fact }
            self.silenced[place] = left - 1
            return .unsilenced(identifier: record.identifier, on: key)
        default: break  // tidy: the other facts silence nothing
        }
        return fact
    }

    private mutating func silence(_ message: MessageID, on key: DeviceKey) {
        guard self.old.contains(key.device) else { return }
        self.silenced[Place(device: key, identifier: message.description), default: 0] += 1
    }
}
