import ClientCore
import PhoneCore
import TidingsModel

@testable import ScenarioCore

// The random things.
extension RandomPhone {
    /// Something happens. Returns the conversations that it must open, and whether the phone restarts.
    mutating func happen() -> (opened: [String], restarts: Bool) {
        switch self.chance.below(100) {
        case 0..<24: self.sendMessage()
        case 24..<29: self.sendCustomMessage()
        case 29..<36: self.pushAgain()
        case 36..<44: self.pushByAnother()
        case 44..<48: self.recall()
        case 48..<52: self.readElsewhere()
        case 52..<54: self.readHere()
        case 54..<64: return (self.act(), false)
        case 64..<80: self.personMoves()
        case 80..<84: self.personSets()
        case 84..<90: return ([], self.systemActs())
        case 90..<92: self.wakeSilently()
        default: self.wait()
        }
        return ([], false)
    }

    // MARK: The server

    private mutating func sendMessage() {
        var message = ScriptedMessage(label: "m\(self.sent.count)")
        message.sender = self.chance.says(50) ? "bob" : "carol"
        if self.chance.says(40) {
            message.conversation =
                self.chance.says(30) ? Self.quiet : ConversationID(type: .group, target: "team")
        }
        message.isCommand = self.chance.says(8)
        message.notifies = !self.chance.says(8)
        let isOwn = self.chance.says(4)
        if isOwn {
            message.sender = "alice"
            message.conversation = ConversationID(type: .direct, target: "bob")
        }
        self.note("\(message.label) from \(message.sender)")
        self.phone.run(.message(message))
        guard let id = self.phone.labels.identifier(of: message.label).flatMap({ MessageID($0) }) else { return }
        let isGroup = message.conversation?.type == .group
        let peer = ConversationID(type: .direct, target: isOwn ? "bob" : message.sender.rawValue)
        self.sent.append(
            Sent(label: message.label, id: id, conversation: isGroup ? message.conversation ?? peer : peer))
    }

    private mutating func sendCustomMessage() {
        let count = self.checks.customSent.count
        var message = ScriptedMessage(label: "c\(count)")
        message.custom = ["title": "news", "content": .string("c\(count)")]
        self.note("custom message c\(count)")
        self.phone.run(.message(message))
        self.checks.customSent.append("c\(count)")
    }

    /// A message is pushed a second time, now or later: APNs or the server lost an answer.
    private mutating func pushAgain() {
        guard let chosen = self.chance.one(of: Array(self.sent.suffix(8))),
            var push = self.phone.labels.push(of: chosen.label)
        else { return self.wait() }
        if var aps = push.payload["aps"]?.objectValue, self.chance.says(50) {
            aps["category"] = .string(Self.actions)
            push.payload["aps"] = .object(aps)
        }
        let wait = self.chance.says(50) ? 0 : 1 + self.chance.below(30)
        self.note("\(chosen.label) is pushed again after \(wait) steps")
        guard wait == 0 else { return self.late.append((self.steps + wait, push, chosen.label)) }
        self.phone.sendPush(push, label: chosen.label)
        self.phone.processQueue()
    }

    private mutating func pushByAnother() {
        var aps = JSONObject([("alert", "sale"), ("sound", "default")])
        if self.chance.says(85) { aps["mutable-content"] = 1 }
        if self.chance.says(30) { aps["badge"] = .int(Int64(self.chance.below(9))) }
        if self.chance.says(30) { aps["category"] = .string(Self.actions) }
        var payload = JSONObject([("aps", .object(aps))])
        let isRecall = self.chance.says(35)
        if isRecall { payload["message"] = ["params": ["corner_mark_decrease": true]] }
        let label = "foreign\(self.steps)"
        self.note("another sender's push\(isRecall ? ", a recall" : "")")
        self.phone.sendPush(Push(delivery: 0, topic: ScenarioPhone.bundle.rawValue, payload: payload), label: label)
        self.phone.processQueue()
    }

    private mutating func recall() {
        let open = self.sent.indices.suffix(6).filter { !self.sent[$0].isRecalled }
        guard let index = self.chance.one(of: open) else { return self.wait() }
        let chosen = self.sent[index]
        self.sent[index].isRecalled = true
        var recall = ScriptedMessage(label: "r\(self.steps)")
        recall.recalls = chosen.label
        self.note("\(chosen.label) is recalled")
        self.phone.run(.message(recall))
    }

    private mutating func readElsewhere() {
        guard let chosen = self.chance.one(of: self.sent) else { return self.wait() }
        self.note("\(chosen.conversation) is read elsewhere")
        self.phone.connectBriefly(
            "alice", "other", [.markRead(chosen.conversation, upTo: self.phone.serverHead)])
        self.phone.processQueue()
    }

    private mutating func readHere() {
        guard self.phone.state == .foregroundActive, let chosen = self.chance.one(of: self.sent) else {
            return self.wait()
        }
        self.note("\(chosen.conversation) is read here")
        self.phone.run(.read(chosen.conversation))
    }

    private mutating func wakeSilently() {
        let id = self.sent.last?.id ?? MessageID(rawValue: 1)
        let info = PushInfo(
            message: id, position: max(1, self.phone.serverHead), badgePosition: 0,
            recipientTag: self.phone.app.sdk?.recipient?.tag ?? "")
        let payload = JSONObject([("aps", ["content-available": 1]), (PushInfo.key, info.dictionary)])
        self.note("silent push")
        self.phone.sendPush(
            Push(
                delivery: 0, topic: ScenarioPhone.bundle.rawValue, payload: payload, pushType: "background", priority: 5
            ),
            label: "silent\(self.steps)")
        self.phone.processQueue()
    }

    // MARK: The person

    /// Something on the screen is touched. Returns what that must open.
    private mutating func act() -> [String] {
        let screen = self.phone.core.screen
        guard let touched = self.chance.one(of: screen.list + screen.banners) else {
            self.wait()
            return []
        }
        // A banner and an entry of one name are one notification: the newer.
        let entry = screen.list.first { $0.key == touched.key } ?? touched
        let conversation = self.sent.first { $0.id.description == entry.key.identifier }?.conversation.description
        // A recall's push says nothing of the conversation.
        let isOurs = (try? NotificationPayload(userInfo: .object(entry.notification.request.content.userInfo))) != nil
        let opens = isOurs ? [conversation].compactMap { $0 } : []
        let hasActions = entry.notification.request.content.categoryIdentifier == Self.actions
        let version = self.setup.phone.version
        // The list is pulled down over the app: before iOS 10 that is how a tap is told from an arrival (S1.8).
        if version < 10 { self.phone.handle(.person(.overlayAppeared)) }
        // Resigning may write 0 on the icon, which clears the list (Q8).
        let left = self.phone.core.screen
        guard (left.list + left.banners).contains(where: { $0.key == entry.key }) else { return [] }
        switch self.chance.below(10) {
        case 0..<2:
            self.note("dismisses \(entry.key.identifier)")
            self.phone.handle(.person(.notificationDismissed(entry.key)))
            return []
        case 2 where screen.banners.contains { $0.key == entry.key }:
            self.note("swipes \(entry.key.identifier) away")
            self.phone.handle(.person(.bannerSwipedAway(entry.key)))
            return []
        case 3 where hasActions && version >= 8:
            self.note("looks at \(entry.key.identifier)")
            self.phone.handle(.person(.actionPerformed(entry.key, action: "look", text: nil)))
            return opens
        case 4 where hasActions && version >= 8:
            self.note("marks \(entry.key.identifier) as read")
            self.phone.handle(
                .person(.actionPerformed(entry.key, action: MessageCategory.markReadAction, text: nil)))
            return []
        default:
            self.note("taps \(entry.key.identifier)")
            self.phone.handle(.person(.notificationTapped(entry.key)))
            return opens
        }
    }

    private mutating func personMoves() {
        let bundle = ScenarioPhone.bundle
        let event: PersonEvent =
            switch self.chance.below(16) {
            case 0..<4: .wentHome
            case 4..<8: .appOpened(bundle)
            case 8..<10: .locked
            case 10..<12: .unlocked
            case 12: .overlayAppeared
            case 13: .overlayDisappeared
            case 14: .appForceQuit(bundle)
            default: .lowPowerModeChanged(isOn: self.chance.says(50))
            }
        self.note("\(event)")
        self.phone.handle(.person(event))
    }

    private mutating func personSets() {
        let version = self.setup.phone.version
        switch self.chance.below(8) {
        case 0..<3:
            // Without a network the app's own connection is gone too.
            let isOn = !self.phone.core.screen.airplaneMode
            self.note("airplane mode \(isOn)")
            self.phone.app.sdk?.isOffline = isOn
            if isOn { self.phone.loseConnection() }
            self.phone.handle(.person(.airplaneModeChanged(isOn: isOn)))
        case 3..<5 where version >= 15:
            let focus = self.chance.says(50) ? Focus() : nil
            self.note("focus \(focus != nil)")
            self.phone.handle(.person(.focusChanged(focus)))
        case 5 where version >= 15:
            let isOn = self.chance.says(40)
            self.note("mute \(isOn)")
            self.phone.handle(.person(.muteChanged(isOn: isOn)))
        default:
            var switches: [SettingSwitch] = [
                .notifications, .alert, .badge, .notificationCenter, .lockScreen, .backgroundRefresh,
            ]
            if version >= 15 { switches.append(.sound) }
            let which = self.chance.one(of: switches) ?? .badge
            let isOn = self.chance.says(75)
            self.note("\(which) \(isOn)")
            self.phone.handle(.person(.settingChanged(ScenarioPhone.bundle, which, isOn: isOn)))
        }
    }

    // MARK: The system

    private mutating func systemActs() -> Bool {
        let bundle = ScenarioPhone.bundle
        let event: SystemEvent =
            switch self.chance.below(12) {
            case 0..<3: .appKilled(bundle)
            // iOS freezes no app in the foreground.
            case 3..<6: self.phone.state.isInForeground ? .appKilled(bundle) : .appFrozen(bundle)
            case 6..<8: .appEvicted(bundle)
            case 8: .memoryRanLow
            case 9: .sceneDisconnected(bundle)
            case 10: .restarted
            default: .backgroundChance(bundle)
            }
        self.note("\(event)")
        self.phone.handle(.system(event))
        return event == .restarted
    }

    private mutating func wait() {
        let times: [Int64] = [100, 1_000, 3_000, 6_000, 20_000, 60_000, 200_000, 1_800_000]
        let wait = self.chance.one(of: times) ?? 1_000
        self.note("\(wait) ms pass")
        self.phone.advance(by: wait)
    }
}
