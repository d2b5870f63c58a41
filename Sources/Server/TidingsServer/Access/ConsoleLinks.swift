import Synchronization
import TidingsModel

/// One-time links to the console: each signs one operator in, once, within ten minutes, on this machine. In memory alone, by the SHA-256 of
/// their secrets.
final class ConsoleLinks: Sendable {
    private struct Link {
        var hash: [UInt8]
        var operatorName: String
        /// Monotonic milliseconds.
        var endsAt: Int64
    }

    static let lifetime: Int64 = 600_000
    private static let countMax = 16

    private let links = Mutex<[Link]>([])

    /// The oldest makes room.
    /// - Returns: the secret, which is kept nowhere.
    func draw(for name: String, at now: Now) -> String {
        let (secret, hash) = APIKeys.draw("tl_")
        self.links.withLock { links in
            links.removeAll { $0.endsAt <= now.monotonic }
            links.append(Link(hash: hash, operatorName: name, endsAt: now.monotonic + Self.lifetime))
            if links.count > Self.countMax { links.removeFirst() }
        }
        return secret
    }

    /// Whom it signs in; nil if it is none, was used or is too old. It is used then.
    func use(_ secret: String, at now: Now) -> String? {
        let hash = APIKeys.hash(of: secret)
        return self.links.withLock { links in
            guard let place = links.firstIndex(where: { $0.hash == hash }) else { return nil }
            let link = links.remove(at: place)
            return link.endsAt > now.monotonic ? link.operatorName : nil
        }
    }
}
