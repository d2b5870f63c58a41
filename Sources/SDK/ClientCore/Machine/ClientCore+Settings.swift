import TidingsModel

// What the person has set holds here at once; the server is told until it has taken it.
extension ClientCore {
    /// A device's clock decides nothing (DESIGN §3). Before the first welcome of a process there is only this one.
    func wall(at now: Now) -> Int64 {
        guard let clock = self.serverClock else { return now.wall }
        return clock.wall + now.monotonic - clock.monotonic
    }

    mutating func settingRequested(
        _ pendingChange: PendingSettingsChange, at now: Now, into effects: inout [ClientEffect]
    ) {
        self.removeLeftover(pendingChange)
        var telling: [Preferences.Telling] = []
        self.changeSettings(into: &effects) { telling = [$0.pendingChange(pendingChange)] }
        self.tellSettings(telling, at: now, into: &effects)
    }

    mutating func sendPendingChanges(at now: Now, into effects: inout [ClientEffect]) {
        self.tellSettings(self.preferences.untold, at: now, into: &effects)
    }

    /// Conversations one by one; all that holds everywhere in one request, in which the newest settings replace the
    /// earlier ones.
    private mutating func tellSettings(
        _ tellings: [Preferences.Telling], at now: Now, into effects: inout [ClientEffect]
    ) {
        var everywhere: [Preferences.Telling] = []
        for telling in tellings {
            switch telling.pendingChange {
            case .conversation(let conversation, let own):
                self.sendRequest(
                    .pendingChanges([telling]), .setConversationSettings(conversation, own), at: now, into: &effects)
            case .state(let conversation, let change, _):
                self.sendRequest(
                    .pendingChanges([telling]), .setConversationState(conversation, change), at: now, into: &effects)
            case .level, .quietHours, .hidesContent, .language, .mayBeAddedBy: everywhere.append(telling)
            }
        }
        guard !everywhere.isEmpty else { return }
        self.sendRequest(
            .pendingChanges(everywhere), .setPersonSettings(self.preferences.current.person), at: now, into: &effects)
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
                return
            }
            for telling in tellings {
                // It stays on this device, and is told again at the next welcome.
                guard !telling.pendingChange.isWritten else {
                    effects.append(.publishProblem(.settingRefused(problem)))
                    continue
                }
                var isDropped = false
                self.changeSettings(into: &effects) { isDropped = $0.refused(telling) }
                guard isDropped else { continue }
                effects += [.removePendingChange(telling.pendingChange), .publishProblem(.settingRefused(problem))]
            }
        case .invited, .conversation, .settings, .history, .receipts, .presence, .profiles, .devices, .following: break
        }
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
