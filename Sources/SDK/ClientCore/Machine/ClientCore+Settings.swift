import TidingsModel

// What the person has set holds here at once; the server is told until it has taken it.
extension ClientCore {
    /// A device's clock decides nothing (design.md §3). Before the first welcome of a process there is only this one.
    func wall(at now: Now) -> Int64 {
        guard let clock = self.serverClock else { return now.wall }
        return clock.wall + now.monotonic - clock.monotonic
    }

    mutating func settingRequested(
        _ pendingChange: PendingSettingsChange, at now: Now, into effects: inout [ClientEffect]
    ) {
        self.removeLeftover(pendingChange)
        self.changeSettings(into: &effects) { $0.add(pendingChange) }
        self.tellPendingChanges(at: now, into: &effects)
    }

    /// Only with the whole log: it may say that the server has taken a change whose answer was lost, and has something
    /// newer by now. Of each thing one at a time, so that an entry is never taken for a later change's; settings that
    /// hold everywhere replace each other as a whole.
    mutating func tellPendingChanges(at now: Now, into effects: inout [ClientEffect]) {
        let untold = self.preferences.untold
        guard !untold.isEmpty, self.isOnline, !self.isLeaving, self.sync.isCaughtUp,
            !self.owesSettings, !self.requests.isOpen(.settings), self.pendingChangeRetryAt == nil
        else { return }
        var everywhere: [Preferences.Telling] = []
        let open = self.requests.openTellings
        for telling in untold {
            switch telling.pendingChange {
            case .conversation(let conversation, let own):
                guard !open.contains(where: { $0.pendingChange.key == telling.pendingChange.key }) else { continue }
                self.sendChanges([telling], .setConversationSettings(conversation, own), at: now, into: &effects)
            case .state(let conversation, let change, _):
                guard !open.contains(where: { $0.pendingChange.key == telling.pendingChange.key }) else { continue }
                self.sendChanges([telling], .setConversationState(conversation, change), at: now, into: &effects)
            case .level, .quietHours, .hidesContent, .language, .mayBeAddedBy: everywhere.append(telling)
            }
        }
        guard !everywhere.isEmpty, !open.contains(where: \.pendingChange.isOfPerson) else { return }
        self.sendChanges(everywhere, .setPersonSettings(self.preferences.current.person), at: now, into: &effects)
    }

    /// Where they are owed, until the server has said them.
    mutating func requestSettings(at now: Now, into effects: inout [ClientEffect]) {
        guard self.owesSettings, self.pendingChangeRetryAt == nil else { return }
        self.sendRequest(.settings, .settings, at: now, into: &effects)
    }

    mutating func settingsSaid(_ answer: ClientAnswer, at now: Now, into effects: inout [ClientEffect]) {
        if case .refused(let problem) = answer {
            if let wait = problem.waitMilliseconds(default: Self.pendingChangeRetryMilliseconds) {
                self.pendingChangeRetryAt = now.monotonic + max(wait, Self.pendingChangeRetryMilliseconds)
            } else {
                // It would refuse again. What is set here holds, and the next process asks.
                self.owesSettings = false
            }
        }
        self.tellPendingChanges(at: now, into: &effects)
    }

    private mutating func sendChanges(
        _ tellings: [Preferences.Telling], _ request: ClientRequest, at now: Now, into effects: inout [ClientEffect]
    ) {
        for telling in tellings where self.preferences.beginTelling(telling) {
            effects.append(.markPendingChange(telling.pendingChange, isTold: true))
        }
        self.sendRequest(.pendingChanges(tellings), request, at: now, into: &effects)
    }

    mutating func settingsAnswered(
        _ tellings: [Preferences.Telling], _ answer: ClientAnswer, at now: Now, into effects: inout [ClientEffect]
    ) {
        switch answer {
        case .done(let position):
            for telling in tellings { self.preferences.told(telling, position: position) }
            self.confirmPendingChanges(into: &effects)
        case .refused(let problem):
            if let wait = problem.waitMilliseconds(default: Self.pendingChangeRetryMilliseconds) {
                self.pendingChangeRetryAt = now.monotonic + max(wait, Self.pendingChangeRetryMilliseconds)
                return self.settingsNotTaken(tellings, into: &effects)
            }
            for telling in tellings {
                // It stays on this device, and is told again at the next welcome.
                guard !telling.pendingChange.isWritten else {
                    if self.preferences.refusedForNow(telling) {
                        effects.append(.markPendingChange(telling.pendingChange, isTold: false))
                    }
                    effects.append(.publishProblem(.settingRefused(problem)))
                    continue
                }
                var isDropped = false
                self.changeSettings(into: &effects) { isDropped = $0.refused(telling) }
                guard isDropped else { continue }
                effects += [.removePendingChange(telling.pendingChange), .publishProblem(.settingRefused(problem))]
            }
        case .invited, .conversation, .settings, .history, .receipts, .presence, .profiles, .devices, .following, .tags:
            break
        }
        self.tellPendingChanges(at: now, into: &effects)
    }

    /// The server has not taken them: whatever the log says, they are newer.
    mutating func settingsNotTaken(_ tellings: [Preferences.Telling], into effects: inout [ClientEffect]) {
        for telling in tellings where self.preferences.notTaken(telling) {
            effects.append(.markPendingChange(telling.pendingChange, isTold: false))
        }
    }

    /// Nobody knows whether the server has taken them.
    mutating func settingsUnanswered(_ tellings: [Preferences.Telling], into effects: inout [ClientEffect]) {
        guard !tellings.isEmpty else { return }
        self.dropPendingChanges(into: &effects) { $0.unanswered(tellings) }
    }

    /// The log holds what is newer.
    mutating func dropPendingChanges(
        into effects: inout [ClientEffect], _ change: (inout Preferences) -> [PendingSettingsChange]
    ) {
        var dropped: [PendingSettingsChange] = []
        self.changeSettings(into: &effects) { dropped = change(&$0) }
        effects += dropped.map { .removePendingChange($0) }
    }

    package static let pendingChangeRetryMilliseconds: Int64 = 5_000

    mutating func confirmPendingChanges(into effects: inout [ClientEffect]) {
        // The pending change held here before, so nothing that is seen changes unless the log has gone on since.
        var done: [Preferences.Confirmation] = []
        self.changeSettings(into: &effects) { [stored = self.sync.stored] in done = $0.confirm(storedUpTo: stored) }
        effects += done.map {
            $0.isInLog ? .removePendingChange($0.pendingChange) : .addPendingChange($0.pendingChange)
        }
    }

    /// Also says what the extension follows: whether notifications hide their content, and the language of their
    /// words.
    mutating func changeSettings(into effects: inout [ClientEffect], _ change: (inout Preferences) -> Void) {
        let before = self.preferences.current.person
        change(&self.preferences)
        let now = self.preferences.current.person
        if now.hidesContent != before.hidesContent {
            effects.append(.noteHiddenContent(now.hidesContent))
            if now.hidesContent { self.deleteDonations(.all, into: &effects) }
        }
        if now.language != before.language { effects.append(.noteLanguage(now.language)) }
    }

    var kitSettings: KitSettings? {
        guard var kit = self.kit else { return nil }
        let person = self.preferences.current.person
        if person.hidesContent { kit.showsContent = false }
        kit.words = self.settings.words.words(for: person.language).words
        return kit
    }
}
