import DequeModule

struct NotificationList: Equatable, Sendable {
    private(set) var entries: Deque<ListEntry> = []
    private(set) var banners: [Banner] = []
    /// The one on the screen first (iOS 3–9).
    private(set) var panels: [ListEntry] = []

    struct Banner: Equatable, Sendable {
        var entry: ListEntry
        var until: Int64
    }

    /// Beyond the limit an app's oldest entry leaves. Returns whether it replaced an entry of the same name.
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
        self.banners.insert(Banner(entry: entry, until: until), at: 0)
        let isOfApp = { (banner: Banner) in banner.entry.app == entry.app }
        guard self.banners.count(where: isOfApp) > limit, let oldest = self.banners.lastIndex(where: isOfApp)
        else { return }
        self.banners.remove(at: oldest)
    }

    mutating func showPanel(_ entry: ListEntry, limit: Int) {
        self.panels.append(entry)
        let isOfApp = { (panel: ListEntry) in panel.app == entry.app }
        guard self.panels.count(where: isOfApp) > limit, let oldest = self.panels.firstIndex(where: isOfApp)
        else { return }
        self.panels.remove(at: oldest)
    }

    mutating func removeShown(_ key: NotificationKey) {
        self.banners.removeAll { $0.entry.key == key }
        self.panels.removeAll { $0.key == key }
    }

    /// Returns whether there was one.
    mutating func removeEntry(_ key: NotificationKey) -> Bool {
        guard let place = self.entries.firstIndex(where: { $0.key == key }) else { return false }
        self.entries.remove(at: place)
        return true
    }

    mutating func closePanel() { self.panels.removeFirst() }

    mutating func removeBanner(_ key: NotificationKey) { self.banners.removeAll { $0.entry.key == key } }

    func has(_ key: NotificationKey) -> Bool {
        self.entries.contains { $0.key == key } || self.banners.contains { $0.entry.key == key }
            || self.panels.contains { $0.key == key }
    }

    /// In the list, as a banner, or as the panel on the screen.
    func entry(_ key: NotificationKey) -> ListEntry? {
        self.entries.first { $0.key == key } ?? self.banners.first { $0.entry.key == key }?.entry
            ?? self.panels.first.flatMap { $0.key == key ? $0 : nil }
    }

    mutating func remove(_ key: NotificationKey) {
        self.entries.removeAll { $0.key == key }
        self.removeShown(key)
    }

    /// nil removes all of the app.
    mutating func remove(app: BundleID, identifiers: [String]?) {
        let goes = { (entry: ListEntry) in entry.app == app && (identifiers?.contains(entry.key.identifier) ?? true) }
        self.entries.removeAll(where: goes)
        self.banners.removeAll { goes($0.entry) }
        self.panels.removeAll(where: goes)
    }

    mutating func removeEntries(of app: BundleID) { self.entries.removeAll { $0.app == app } }

    mutating func expireBanners(at now: Int64) {
        guard self.banners.indices.contains(where: { self.banners[$0].until <= now }) else { return }
        self.banners.removeAll { $0.until <= now }
    }

    mutating func clearBanners() { self.banners.removeAll() }

    mutating func clearScreen() {
        self.clearBanners()
        self.panels.removeAll()
    }
}
