/// How an app's category sums up a group of notifications (ios-delivery.md §9).
public struct SummaryFormat: Hashable, Sendable {
    /// The app.
    public var app: BundleID
    /// The category's identifier.
    public var category: String
    /// `%u` stands for the number, `%@` for the summary arguments.
    public var format: String
}

/// Entries of one app and thread, which the list shows as one stack from iOS 12 (ios-delivery.md §5.0).
public struct ListGroup: Hashable, Sendable {
    /// The app.
    public var app: BundleID
    /// The thread; empty for entries without one.
    public var thread: String
    /// Newest first; one or more.
    public var entries: [ListEntry]
    /// The line under the newest entry; nil if there is only one.
    public var summary: String?
}

extension ScreenState {
    /// The list as stacks, the one with the newest entry first. Before iOS 12 every entry stands alone.
    public var groups: [ListGroup] {
        guard self.groupsThreads else {
            return self.list.map {
                ListGroup(app: $0.app, thread: $0.notification.request.content.threadIdentifier, entries: [$0])
            }
        }
        struct Name: Hashable {
            var app: BundleID
            var thread: String
        }
        var places: [Name: Int] = [:]
        var groups: [ListGroup] = []
        for entry in self.list {
            let thread = entry.notification.request.content.threadIdentifier
            let name = Name(app: entry.app, thread: thread)
            if let place = places[name] {
                groups[place].entries.append(entry)
            } else {
                places[name] = groups.count
                groups.append(ListGroup(app: entry.app, thread: thread, entries: [entry]))
            }
        }
        for place in groups.indices { groups[place].summary = self.summary(of: groups[place]) }
        return groups
    }

    /// Over all but the newest entry.
    private func summary(of group: ListGroup) -> String? {
        guard let newest = group.entries.first, group.entries.count > 1 else { return nil }
        let others = group.entries.dropFirst().map(\.notification.request.content)
        // A sender may claim any number.
        let count = others.reduce(0) { sum, content in
            let (more, overflow) = sum.addingReportingOverflow(max(1, content.summaryArgumentCount))
            return overflow ? .max : more
        }
        var arguments: [String] = []
        for argument in others.map(\.summaryArgument) where !argument.isEmpty && !arguments.contains(argument) {
            arguments.append(argument)
        }
        let names = arguments.joined(separator: ", ")
        let category = newest.notification.request.content.categoryIdentifier
        let own = self.summaryFormats.first { $0.app == group.app && $0.category == category }
        let format = own?.format ?? (names.isEmpty ? "%u more" : "%u more from %@")
        return LocalizedText.fill(format, arguments: [String(count), names])
    }
}
