package import DequeModule

extension PhoneCore {
    package var screen: ScreenState {
        let front = self.lock == .unlocked ? self.foregroundApp : nil
        return ScreenState(
            lock: self.lock, airplaneMode: self.airplaneMode, foregroundApp: front,
            foregroundScreen: front.flatMap(self.index(of:)).flatMap { self.apps[$0].screen },
            banners: self.list.banners.map { self.withHiddenPreview($0.entry) },
            list: self.list.entries.map(self.withHiddenPreview),
            badges: self.apps.filter { $0.badge > 0 }.map { IconBadge(app: $0.installed.bundleID, count: $0.badge) },
            permissionPrompt: self.prompts.first?.process.app, asksToUnlockFor: self.awaitsUnlock?.notification,
            alertPanel: self.list.panels.first.map(self.withHiddenPreview),
            waitingPanels: max(0, self.list.panels.count - 1),
            isLit: self.lock == .unlocked || self.notices.litUntil != nil,
            groupsThreads: self.version >= 12, focus: self.notices.focus,
            heldForSummary: self.notices.heldForSummary.reversed().map(self.withHiddenPreview),
            activities: self.shownActivities, calls: self.shownCalls, summaryFormats: self.summaryFormats)
    }

    /// The entries of the notification list, newest first, as they were delivered: without the rest of the screen, and whether
    /// or not their text is hidden.
    package var listed: Deque<ListEntry> { self.list.entries }

    package var focus: Focus? { self.notices.focus }

    /// True if the files the phone protects can be read: not between a restart and the first unlock.
    package var isUnlockedOnce: Bool { self.lock != .beforeFirstUnlock }

    package var isInLowPowerMode: Bool { self.lowPowerMode }

    /// From iOS 8 (ios-delivery.md §6.4).
    package func actions(of entry: ListEntry) -> [NotificationAction] {
        guard self.version >= 8, let index = self.index(of: entry.app) else { return [] }
        return self.apps[index].category(of: entry.notification.request.content)?.actions ?? []
    }

    package var asksForPermission: Bool { !self.prompts.isEmpty }

    /// Text is hidden from iOS 11 by the setting, before the first unlock always (ios-delivery.md §5.0, §5.3 row
    /// BFU).
    private func withHiddenPreview(_ entry: ListEntry) -> ListEntry {
        guard self.version >= 10, let index = self.index(of: entry.app) else { return entry }
        let isHidden =
            switch self.apps[index].settings.showPreviews {
            case .always: self.lock == .beforeFirstUnlock
            case .whenAuthenticated: self.lock == .beforeFirstUnlock || (self.lock == .locked && self.version >= 11)
            case .never: self.lock == .beforeFirstUnlock || self.version >= 11
            }
        guard isHidden else { return entry }
        let category = self.apps[index].category(of: entry.notification.request.content)
        var seen = entry
        let hiddenBody = self.version >= 11 ? category?.hiddenPreviewsBodyPlaceholder ?? "" : ""
        seen.hidden = HiddenPreview(
            body: hiddenBody.isEmpty ? HiddenPreview.standardBody : hiddenBody,
            showsTitle: self.version >= 11 && category?.options.contains(.hiddenPreviewsShowTitle) == true,
            showsSubtitle: self.version >= 11 && category?.options.contains(.hiddenPreviewsShowSubtitle) == true)
        return seen
    }

    private var summaryFormats: [SummaryFormat] {
        guard self.version >= 12 else { return [] }
        return self.apps.flatMap { app in
            app.categories.filter { !$0.categorySummaryFormat.isEmpty }.map {
                SummaryFormat(app: app.installed.bundleID, category: $0.identifier, format: $0.categorySummaryFormat)
            }
        }
    }
}
