import ClientCore
import PhoneCore
import TidingsModel

@testable import ScenarioCore

/// What must hold after every step, whatever happened.
struct PhoneChecks {
    /// How long a call may wait for its answer: the phone's own longest limit and a little, in milliseconds.
    static let answerMax: Int64 = 40_000

    let version: OSVersion
    var badge: BadgeModel
    var problems: [String] = []
    /// Custom messages in the order of the log, and how many were handed over.
    var customSent: [String] = []
    private var customHanded = 0
    private var rings = Rings()
    /// What was unread when a notification was begun or its message recalled.
    private var unread: [MessageID: Int] = [:]
    private var open: [CallbackNumber: OpenCall] = [:]
    /// What the app has asked and not heard of yet; the number is what it writes on the icon, nil for a notification.
    private var asked: [Int?] = []

    private struct OpenCall {
        var process: ProcessID
        var name: String
        var since: Int64
    }

    /// Who has rung, and who looked at the ledger before.
    struct Rings {
        /// Message ids whose notification the extension or the kit has let ring.
        fileprivate var guarded: Set<String> = []
        fileprivate var all: Set<String> = []
        /// Whether the extension could read the ledger for what comes now, by identifier.
        fileprivate var decided: Set<String> = []
        /// The badge the rule gives what comes now, by identifier.
        fileprivate var numbers: [String: Int?] = [:]
        /// The same for the kit's local notifications.
        fileprivate var localNumbers: [String: [Int?]] = [:]
        /// Rings altogether.
        private(set) var count = 0
        /// Second rings where no extension ran or it could not read the ledger (design.md P3: counted apart).
        private(set) var unguarded = 0
        /// Second banners without sound, before there was a passive level (iOS 10–14).
        private(set) var soundless = 0

        /// Notes a ring; false for a second one that the ledger should have prevented.
        fileprivate mutating func note(_ record: PresentationRecord, version: OSVersion) -> Bool {
            let id = record.identifier
            self.count += 1
            let isRepeated = !self.all.insert(id).inserted
            guard !record.isRemote || self.decided.contains(id) else {
                if isRepeated { self.unguarded += 1 }
                return true
            }
            if self.guarded.insert(id).inserted { return true }
            guard record.isRemote, !version.hasInterruptionLevels, !record.sound else { return false }
            self.soundless += 1
            return true
        }
    }

    init(_ phone: ScenarioPhone) {
        self.version = phone.setup.phone.version
        let levels = phone.setup.app.sdk?.levels ?? [:]
        self.badge = BadgeModel(
            muted: Set(levels.filter { $0.value == .blocked }.keys), person: "alice",
            stored: phone.app.sdk?.store.rows.log.stored ?? 0)
    }

    var ringCounts: Rings { self.rings }

    // MARK: What was done

    /// Goes through everything phone and SDK did.
    mutating func follow(_ phone: ScenarioPhone, isBeforeFirstUnlock: Bool) {
        var resigned = 0
        var written = 0
        for observation in phone.observed ?? [] {
            switch observation {
            // A `UILocalNotification` is not answered.
            case .posts: if self.version.hasUserNotifications { self.asked.append(nil) }
            case .showsBadge(let number):
                if !isBeforeFirstUnlock, number != self.badge.shown {
                    self.problems.append("the icon is set to \(number), the rule says \(self.badge.shown ?? -1)")
                }
                self.asked.append(number)
            case .requests(let work, let hasGroup):
                switch work {
                case .countResigned, .countAtTermination: written += 1
                default: break
                }
                self.follow(work, hasGroup: hasGroup)
            case .extensionDecides(let request): self.extended(request, isBeforeFirstUnlock: isBeforeFirstUnlock)
            case .wroteIcon(let number): self.badge.icon = max(0, number)
            case .client(let effect):
                self.follow(effect)
            case .phone(let effect):
                if case .call(let process, _, let callback, _) = effect, process.role == .app, callback.resigns {
                    resigned += 1
                }
                self.follow(effect, at: phone.now.monotonic, isBeforeFirstUnlock: isBeforeFirstUnlock)
            }
        }
        if resigned != written {
            self.problems.append("the badge was written \(written) times, but the app resigned \(resigned) times")
        }
    }

    /// Ledger and number change when the work is asked for, whenever its turn at the notification centre comes.
    private mutating func follow(_ work: NotificationCenterQueue.Work, hasGroup: Bool) {
        switch work {
        case .post(let notification), .recall(_, replacement: let notification?):
            // Later messages may be stored by now.
            let unread = self.unread[notification.message]
            if notification.unread != unread {
                self.problems.append("a notification counts \(notification.unread), unread were \(unread ?? -1)")
            }
            if hasGroup { self.badge.counted(notification.unread, at: notification.position) }
            let number: Int? = hasGroup ? self.badge.shown : nil
            self.rings.localNumbers[notification.message.description, default: []].append(number)
        case .countUnread(let unread, let position):
            if unread != self.badge.unread {
                self.problems.append("the badge falls to \(unread), unread are \(self.badge.unread)")
            }
            guard hasGroup else { return }
            self.badge.counted(unread, at: position)
        case .countResigned(let unread, let position), .countAtTermination(let unread, let position):
            if unread != self.badge.unread || position != self.badge.stored {
                self.problems.append("the badge counts \(unread), unread are \(self.badge.unread)")
            }
            if hasGroup { self.badge.resigned() }
        default: break
        }
    }

    private mutating func follow(_ effect: ClientEffect) {
        switch effect {
        case .storeEntries(let entries):
            for entry in entries { self.badge.stored(entry) }
            for case .recall(let recall) in entries.map(\.body) { self.unread[recall.message] = self.badge.unread }
        case .resolveNames(let message, _): self.unread[message] = self.badge.unread
        case .storeRead(let conversation, let position): self.badge.read(conversation, upTo: position)
        default: break
        }
    }

    private mutating func follow(_ effect: PhoneEffect, at now: Int64, isBeforeFirstUnlock: Bool) {
        switch effect {
        case .call(let process, let number, let callback, _):
            if callback.hasHandler {
                self.open[number] = OpenCall(process: process, name: callback.name, since: now)
            }
            if case .serviceExtensionReceive(let request) = callback {
                // What holds if it never comes to a decision, or none of the SDK's is there to make one.
                self.rings.numbers[request.identifier] = request.content.badge
            }
        case .answer(_, _, let answer):
            switch answer {
            case .added, .done, .refused:
                guard !self.asked.isEmpty else { return }
                let number = self.asked.removeFirst()
                if case .done = answer, let number { self.badge.icon = max(0, number) }
            default: break
            }
        case .killProcess(let process):
            self.open = self.open.filter { $0.value.process != process }
            if process.role == .app { self.asked = [] }
        case .record(let record): self.follow(record.entry)
        default: break
        }
    }

    private mutating func follow(_ entry: PhoneRecord.Entry) {
        switch entry {
        case .completion(let number, _): self.open.removeValue(forKey: number)
        case .arrival(let arrival):
            self.rings.decided.remove(arrival.identifier)
            self.rings.numbers.removeValue(forKey: arrival.identifier)
        case .presentation(let record):
            if let shown = record.badge {
                let numbers =
                    record.isRemote
                    ? self.rings.numbers[record.identifier].map { [$0] } : self.rings.localNumbers[record.identifier]
                if let numbers, !numbers.contains(shown) {
                    self.problems.append("\(record.identifier) sets the badge to \(shown), the rule says \(numbers)")
                }
                self.badge.icon = max(0, shown)
            }
            guard record.isRing, MessageID(record.identifier) != nil else { return }
            if !self.rings.note(record, version: self.version) {
                self.problems.append("\(record.identifier) rings a second time")
            }
        default: break
        }
    }

    /// The rule for what the extension makes of a push.
    private mutating func extended(_ request: NotificationRequest, isBeforeFirstUnlock: Bool) {
        let content = request.content
        let userInfo = JSONValue.object(content.userInfo)
        guard !isBeforeFirstUnlock else { return self.rings.numbers[request.identifier] = content.badge }
        if let info = PushInfo(userInfo: userInfo) {
            if let absolute = content.badge { self.badge.pushed(absolute, at: info.badgePosition) }
        } else {
            let flag = content.userInfo["message"]?["params"]?["corner_mark_decrease"]
            self.badge.pushedByAnother(isRecall: flag == true)
        }
        self.rings.decided.insert(request.identifier)
        let number: Int? = self.badge.shown ?? content.badge
        self.rings.numbers[request.identifier] = number
    }

    // MARK: What holds now

    mutating func check(_ phone: ScenarioPhone, opened expected: [String]) {
        if phone.trace[.opened] != expected {
            self.problems.append("opened \(phone.trace[.opened]), the person asked for \(expected)")
        }
        self.checkBadge(phone)
        self.checkCalls(phone)
        self.checkCustomMessages(phone)
    }

    private mutating func checkBadge(_ phone: ScenarioPhone) {
        let icon = phone.core.screen.badge(of: ScenarioPhone.bundle)
        if icon != self.badge.icon { self.problems.append("the icon shows \(icon), the rule says \(self.badge.icon)") }
        let kept = phone.app.sdk?.badge
        let rule =
            self.badge.isStored
            ? Badge(server: self.badge.server, foreign: self.badge.foreign, position: self.badge.position) : nil
        if kept != rule {
            self.problems.append(
                "the app group holds \(kept.map { "\($0)" } ?? "nothing"), the rule says \(self.badge)")
        }
    }

    private mutating func checkCalls(_ phone: ScenarioPhone) {
        for (number, call) in self.open
        where phone.now.monotonic - call.since > Self.answerMax && !phone.isStopped(call.process) {
            self.problems.append("call \(number) of \(call.name) is not answered")
        }
        // A process is ended for what it left undone, or for what it did twice.
        let allowed: Set<String> = [
            "forceQuit", "killedBySystem", "evicted", "restarted", "extensionDone",
        ]
        for reason in phone.trace[.ended] where !allowed.contains(reason) {
            self.problems.append("a process ended: \(reason)")
        }
        for fault in phone.trace[.faults] where fault != "refused: notificationsNotAllowed" {
            self.problems.append("fault: \(fault)")
        }
    }

    private mutating func checkCustomMessages(_ phone: ScenarioPhone) {
        for label in phone.trace[.customMessages] {
            if !phone.state.isInForeground { self.problems.append("\(label) is handed over, not in the foreground") }
            let next = self.customHanded < self.customSent.count ? self.customSent[self.customHanded] : "none"
            if label != next { self.problems.append("\(label) is handed over, the next one is \(next)") }
            self.customHanded += 1
        }
        guard phone.state == .foregroundActive, let sdk = phone.app.sdk, sdk.client?.runState == .foreground else {
            return
        }
        if sdk.store.restored().hasCustomMessages { self.problems.append("custom messages wait in the foreground") }
    }
}

extension Callback {
    /// Whether it is answered by calling a handler.
    fileprivate var hasHandler: Bool {
        switch self {
        case .receiveRemoteFetch, .willPresent, .receiveResponse, .serviceExtensionReceive, .performFetch: true
        default: false
        }
    }

    /// Whether the kit writes the badge in it (S2.17).
    fileprivate var resigns: Bool {
        switch self {
        case .sceneWillResignActive, .applicationWillResignActive, .applicationWillTerminate: true
        default: false
        }
    }
}

extension ScenarioPhone {
    /// Whether a process cannot answer now: a suspended one takes no part in anything.
    fileprivate func isStopped(_ process: ProcessID) -> Bool {
        process == self.process && self.state == .suspended
    }
}
