import TidingsModel

/// So many of each kind as a person can read, of what has come since the last look: for a screen, to which all of thousands a second would
/// be work for nothing. What is told of a message goes together: of more than may be told, first those about messages that were told.
package struct ReportSample: Sendable {
    private struct Gathered: Sendable {
        var count = 0
        /// Reports about no message, or about one that was told.
        var wanted: [ReportBuffer.Entry] = []
        var others: [ReportBuffer.Entry] = []
    }

    package struct PassedOver: Hashable, Sendable {
        package var kind: ServerReport.Kind
        package var count: Int
    }

    package struct Page: Hashable, Sendable {
        /// In their order.
        package var entries: [ReportBuffer.Entry] = []
        /// In the order of kinds; without those of which none was passed over.
        package var passedOver: [PassedOver] = []
    }

    /// Most messages end within seconds, and some are opened later.
    private static let followedLooks = 60

    /// The most reports of each kind in one look.
    private let most: Int
    private var gathered: [ServerReport.Kind: Gathered] = [:]
    /// The messages that were told, by look; the newest last.
    private var followed: [Set<MessageID>] = [[]]

    /// - Parameter most: of each kind in one look, 1 or more.
    package init(most: Int) { self.most = most }

    package mutating func add(_ entries: [ReportBuffer.Entry]) {
        for entry in entries {
            let kind = entry.report.kind
            self.gathered[kind, default: Gathered()].count += 1
            let (wanted, others) = (self.gathered[kind]?.wanted.count ?? 0, self.gathered[kind]?.others.count ?? 0)
            if self.isWanted(entry.report) {
                guard wanted < self.most else { continue }
                self.gathered[kind]?.wanted.append(entry)
                if kind == .messageAccepted, let message = entry.report.message {
                    self.followed[self.followed.count - 1].insert(message)
                }
            } else if others < self.most {
                self.gathered[kind]?.others.append(entry)
            }
        }
    }

    /// A message that begins is one to follow.
    private func isWanted(_ report: ServerReport) -> Bool {
        guard let message = report.message, report.kind != .messageAccepted else { return true }
        return self.followed.contains { $0.contains(message) }
    }

    /// Returns reports of those that have come since the last look.
    package mutating func look() -> Page {
        var page = Page()
        for kind in ServerReport.Kind.allCases {
            guard let found = self.gathered[kind] else { continue }
            // All, where there are few; else nothing whose beginning was not told takes a place.
            let told = found.count <= self.most || found.wanted.isEmpty ? found.wanted + found.others : found.wanted
            page.entries += told.prefix(self.most)
            let passedOver = found.count - min(told.count, self.most)
            if passedOver > 0 { page.passedOver.append(PassedOver(kind: kind, count: passedOver)) }
        }
        page.entries.sort { $0.id.number < $1.id.number }
        self.gathered = [:]
        if self.followed.last?.isEmpty == false { self.followed.append([]) }
        if self.followed.count > Self.followedLooks { self.followed.removeFirst() }
        return page
    }
}
