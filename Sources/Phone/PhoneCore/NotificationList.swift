import DequeModule

/// Notification Center and the banners of a phone.
struct NotificationList: Equatable, Sendable {
    /// Newest first.
    private(set) var entries: Deque<ListEntry> = []
    /// Newest first.
    private(set) var banners: [Banner] = []
    /// Modal panels, the one on the screen first (iOS 3–9).
    private(set) var panels: [ListEntry] = []

    struct Banner: Equatable, Sendable {
        var entry: ListEntry
        /// Monotonic milliseconds.
        var until: Int64
    }

    /// Puts an entry on top, in the place of one with the same name; beyond the limit an app's oldest entries leave.
    ///
    /// - Returns: whether it took the place of another.
    mutating func insert(_ entry: ListEntry, limit: Int) -> Bool {
        // One pass that copies no entry: this is the hot path of a phone that gets pushes.
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

    /// Shows a banner in front of the others; beyond the limit an app's oldest ones leave.
    mutating func showBanner(_ entry: ListEntry, until: Int64, limit: Int) {
        self.banners.insert(Banner(entry: entry, until: until), at: 0)
        let isOfApp = { (banner: Banner) in banner.entry.app == entry.app }
        guard self.banners.count(where: isOfApp) > limit, let oldest = self.banners.lastIndex(where: isOfApp)
        else { return }
        self.banners.remove(at: oldest)
    }

    /// Puts a panel behind those that wait; beyond the limit the oldest of the app that waits leaves.
    mutating func showPanel(_ entry: ListEntry, limit: Int) {
        self.panels.append(entry)
        let isOfApp = { (panel: ListEntry) in panel.app == entry.app }
        guard self.panels.count(where: isOfApp) > limit, let oldest = self.panels.firstIndex(where: isOfApp)
        else { return }
        self.panels.remove(at: oldest)
    }

    /// Takes the banner and the panel of a name off the screen.
    mutating func removeShown(_ key: NotificationKey) {
        self.banners.removeAll { $0.entry.key == key }
        self.panels.removeAll { $0.key == key }
    }

    /// Takes the entry of a name out of the list.
    ///
    /// - Returns: whether there was one.
    mutating func removeEntry(_ key: NotificationKey) -> Bool {
        guard let place = self.entries.firstIndex(where: { $0.key == key }) else { return false }
        self.entries.remove(at: place)
        return true
    }

    /// Takes the panel off the screen; the next one appears.
    mutating func closePanel() -> ListEntry? { self.panels.isEmpty ? nil : self.panels.removeFirst() }

    /// Takes a banner off the screen; the list keeps its entry.
    mutating func removeBanner(_ key: NotificationKey) { self.banners.removeAll { $0.entry.key == key } }

    /// Whether a notification of the name is in the list, a banner or a panel.
    func has(_ key: NotificationKey) -> Bool {
        self.entries.contains { $0.key == key } || self.banners.contains { $0.entry.key == key }
            || self.panels.contains { $0.key == key }
    }

    /// What a person can touch: in the list, as a banner, or as the panel on the screen.
    func entry(_ key: NotificationKey) -> ListEntry? {
        self.entries.first { $0.key == key } ?? self.banners.first { $0.entry.key == key }?.entry
            ?? self.panels.first.flatMap { $0.key == key ? $0 : nil }
    }

    /// Takes an entry out of list and banners.
    mutating func remove(_ key: NotificationKey) {
        self.entries.removeAll { $0.key == key }
        self.removeShown(key)
    }

    /// Takes out an app's entries with the identifiers, or all of them.
    mutating func remove(app: BundleID, identifiers: [String]?) {
        let goes = { (entry: ListEntry) in
            entry.app == app && (identifiers?.contains(entry.key.identifier) ?? true)
        }
        self.entries.removeAll(where: goes)
        self.banners.removeAll { goes($0.entry) }
        self.panels.removeAll(where: goes)
    }

    /// Takes an app's entries off the lock screen when the list does not keep them.
    mutating func removeEntries(of app: BundleID) { self.entries.removeAll { $0.app == app } }

    /// Ends the banners whose time is over.
    mutating func expireBanners(at now: Int64) {
        guard self.banners.indices.contains(where: { self.banners[$0].until <= now }) else { return }
        self.banners.removeAll { $0.until <= now }
    }

    /// Ends all banners.
    mutating func clearBanners() { self.banners.removeAll() }

    /// Ends all banners and panels.
    mutating func clearScreen() {
        self.clearBanners()
        self.panels.removeAll()
    }
}
