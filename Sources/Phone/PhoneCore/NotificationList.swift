/// Notification Center and the banners of a phone.
struct NotificationList: Equatable, Sendable {
    /// Newest first.
    private(set) var entries: [ListEntry] = []
    /// Newest first.
    private(set) var banners: [Banner] = []

    struct Banner: Equatable, Sendable {
        var entry: ListEntry
        /// Monotonic milliseconds.
        var until: Int64
    }

    /// Puts an entry on top, in the place of one with the same name; beyond the limit an app's oldest entries leave.
    ///
    /// - Returns: whether it took the place of another.
    mutating func insert(_ entry: ListEntry, limit: Int) -> Bool {
        let before = self.entries.count
        self.entries.removeAll { $0.key == entry.key }
        let replaced = self.entries.count != before
        self.entries.insert(entry, at: 0)
        if let oldest = self.entries.lastIndex(where: { $0.app == entry.app }),
            self.entries.count(where: { $0.app == entry.app }) > limit
        {
            self.entries.remove(at: oldest)
        }
        return replaced
    }

    /// Shows a banner; an older one of the same name goes.
    mutating func showBanner(_ entry: ListEntry, until: Int64) {
        self.banners.removeAll { $0.entry.key == entry.key }
        self.banners.insert(Banner(entry: entry, until: until), at: 0)
    }

    /// What a person can touch: in the list or as a banner.
    func entry(_ key: NotificationKey) -> ListEntry? {
        self.entries.first { $0.key == key } ?? self.banners.first { $0.entry.key == key }?.entry
    }

    /// Takes an entry out of list and banners.
    mutating func remove(_ key: NotificationKey) {
        self.entries.removeAll { $0.key == key }
        self.banners.removeAll { $0.entry.key == key }
    }

    /// Takes out an app's entries with the identifiers, or all of them.
    mutating func remove(app: BundleID, identifiers: [String]?) {
        let goes = { (entry: ListEntry) in
            entry.app == app && (identifiers?.contains(entry.key.identifier) ?? true)
        }
        self.entries.removeAll(where: goes)
        self.banners.removeAll { goes($0.entry) }
    }

    /// Ends the banners whose time is over.
    mutating func expireBanners(at now: Int64) { self.banners.removeAll { $0.until <= now } }

    /// Ends all banners.
    mutating func clearBanners() { self.banners.removeAll() }
}
