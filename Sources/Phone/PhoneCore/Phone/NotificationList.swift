import DequeModule

struct NotificationList: Equatable, Sendable {
    private(set) var entries: Deque<ListEntry> = []
    /// Newest first.
    private(set) var banners: [Banner] = []
    /// The one on the screen first (iOS 3–9).
    private(set) var panels: [ListEntry] = []

    struct Banner: Equatable, Sendable, Due {
        var entry: ListEntry
        var deadline: Int64
    }

    func has(_ key: NotificationKey) -> Bool {
        self.entries.contains { $0.key == key } || self.banners.contains { $0.entry.key == key }
            || self.panels.contains { $0.key == key }
    }

    /// In the list, as a banner, or as the panel on the screen.
    func entry(_ key: NotificationKey) -> ListEntry? {
        self.entries.first { $0.key == key } ?? self.banners.first { $0.entry.key == key }?.entry
            ?? self.panels.first.flatMap { $0.key == key ? $0 : nil }
    }

    // MARK: Showing. Beyond the limit an app's oldest entry leaves.

    /// Returns whether it replaced an entry of the same name.
    mutating func insert(_ entry: ListEntry, limit: Int) -> Bool {
        // One pass without copies: this is the hot path for pushes.
        var place: Int?
        var oldest: Int?
        var count = 0
        for position in self.entries.indices where self.entries[position].app == entry.app {
            count += 1
            oldest = position
            if place == nil, self.entries[position].identifier == entry.identifier { place = position }
        }
        if let leaves = place ?? (count >= limit ? oldest : nil) { self.entries.remove(at: leaves) }
        self.entries.prepend(entry)
        return place != nil
    }

    mutating func showBanner(_ entry: ListEntry, until: Int64, limit: Int) {
        self.banners.insert(Banner(entry: entry, deadline: until), at: 0)
        let own = self.banners.indices.filter { self.banners[$0].entry.app == entry.app }
        if own.count > limit, let oldest = own.last { self.banners.remove(at: oldest) }
    }

    mutating func showPanel(_ entry: ListEntry, limit: Int) { self.panels.append(entry, limit: limit) }

    // MARK: Removing

    mutating func remove(_ key: NotificationKey) {
        self.entries.removeAll { $0.key == key }
        self.removeShown(key)
    }

    mutating func removeShown(_ key: NotificationKey) {
        self.removeBanner(key)
        self.panels.removeAll { $0.key == key }
    }

    mutating func removeBanner(_ key: NotificationKey) { self.banners.removeAll { $0.entry.key == key } }

    /// Returns whether there was one.
    mutating func removeEntry(_ key: NotificationKey) -> Bool {
        let place = self.entries.firstIndex { $0.key == key }
        if let place { self.entries.remove(at: place) }
        return place != nil
    }

    mutating func removeEntries(of app: BundleID) { self.entries.removeAll { $0.app == app } }

    mutating func remove(where goes: (ListEntry) -> Bool) {
        self.entries.removeAll(where: goes)
        self.banners.removeAll { goes($0.entry) }
        self.panels.removeAll(where: goes)
    }

    mutating func closePanel() { self.panels.removeFirst() }

    mutating func expireBanners(at now: Int64) {
        if self.banners.firstDue(at: now) != nil { self.banners.removeAll { $0.deadline <= now } }
    }

    mutating func clearBanners() { self.banners.removeAll() }

    mutating func clearScreen() {
        self.clearBanners()
        self.panels.removeAll()
    }
}

extension [ListEntry] {
    /// Newest last. Beyond the limit the app's oldest entry leaves.
    mutating func append(_ entry: ListEntry, limit: Int) {
        self.append(entry)
        let own = self.indices.filter { self[$0].app == entry.app }
        if own.count > limit { self.remove(at: own[0]) }
    }
}
