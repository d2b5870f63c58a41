package import APNsModel
package import StoreModel
package import TidingsModel

/// Which of an app's push credentials a push goes out with.
///
/// Only an active one that has not expired, is for the side, and may send this type of push to the topic. Of several the first by
/// these rules, each of which decides only where those before it do not:
///
/// 1. One that APNs has taken on this side, then one nobody has asked about, then one that APNs has refused: of several the one refused
///    longest ago, so that each is tried again in its turn, and one whose fault was passing is found.
/// 2. One bound to this side, before one for both: it is the newer kind of key, and made for this.
/// 3. One bound to the topic, before one for every topic of its team.
/// 4. One with which a push to the topic was accepted.
/// 5. The newest; of one moment the one whose id comes first.
package struct PushCredentialChoice: Hashable, Sendable {
    package var environment: PushEnvironment
    package var topic: String
    package var type: APNsPushType

    /// Nil if none can send it: it waits then.
    ///
    /// - Parameters:
    ///   - records: in any order.
    ///   - wall: milliseconds since 1970.
    package func choose(from records: [PushCredentialRecord], at wall: Int64) -> PushCredentialRecord? {
        records.filter { self.maySend($0, at: wall) }.min { self.isBefore($0, $1) }
    }

    private func maySend(_ record: PushCredentialRecord, at wall: Int64) -> Bool {
        guard record.state == .active, !record.isExpired(at: wall), record.environments.contains(self.environment)
        else {
            return false
        }
        switch record.kind {
        case .tokenKey: return record.topics.isEmpty || record.topics.contains(self.bundleID)
        case .certificate:
            // A certificate for calls has no subject to send alerts to (`ProviderCertificate.authentication`).
            let topics = APNsCertificateTopics(subject: record.subject ?? "", listed: record.topics)
            return APNsPushType.types(ofTopic: self.topic).contains(self.type)
                && self.type.maySend(to: self.topic, with: .certificate(topics))
        }
    }

    /// A key is made for bundle identifiers, and with them for their topics of every type.
    private var bundleID: String { APNsPushType.bundleID(ofTopic: self.topic) }

    private func isBefore(_ left: PushCredentialRecord, _ right: PushCredentialRecord) -> Bool {
        let (first, second) = (self.rank(left), self.rank(right))
        guard first == second else { return first.lexicographicallyPrecedes(second) }
        guard left.createdAt == right.createdAt else { return left.createdAt > right.createdAt }
        return left.id < right.id
    }

    private func rank(_ record: PushCredentialRecord) -> [Int] {
        let (proof, refusedAt) =
            switch record.proof(in: self.environment).map({ ($0.isGood, $0.at) }) {
            case (true, _)?: (0, 0)
            case nil: (1, 0)
            case (false, let at)?: (2, Int(at))
            }
        return [
            proof, refusedAt, record.environments.count, record.topics.isEmpty ? 1 : 0,
            record.isProven(self.topic, in: self.environment) ? 0 : 1,
        ]
    }
}
