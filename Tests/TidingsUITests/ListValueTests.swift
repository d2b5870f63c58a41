// swift-format-ignore-file: NeverForceUnwrap

import ClientCore
import Foundation
import Testing
import TidingsModel
import UIKit

@testable import TidingsClient
@testable import TidingsUI

@MainActor @Suite struct `A row of the list of conversations` {
    private static let utc = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!
        return calendar
    }()
    /// Wednesday, 4 November 2026, 12:00.
    private static let now: Int64 = 1_793_793_600_000
    private static let day: Int64 = 86_400_000

    private static func times(_ language: String) -> ChatTimes {
        var words = InterfaceWords.words(for: language)
        words.language = language
        return ChatTimes(words: words, calendar: Self.utc)
    }

    private static func message(
        _ content: MessageContent, from sender: UserID = "bob", to conversation: ConversationID, push: String? = nil
    ) -> Message {
        Message(
            id: MessageID(rawValue: 7), app: "demo", sender: sender, conversation: conversation, clientMessageID: "c",
            objectName: content.objectName, content: content.json, flags: .normal, pushText: push,
            sentAt: Self.now - 3_600_000)
    }

    private func item(
        _ content: MessageContent = .text("Lunch?"), type: ConversationType = .direct, unread: Int = 0,
        mentions: Int = 0,
        level: NotificationLevel = .all, draft: String? = nil, isPinned: Bool = false, isRecalled: Bool = false,
        push: String? = nil
    ) -> ConversationSummary {
        let conversation = ConversationID(type: type, target: "bob")
        var settings = ConversationSettings()
        settings.draft = draft.map { ConversationDraft(text: $0, writtenAt: 1) }
        settings.pinnedAt = isPinned ? 1 : nil
        let last = StoredMessage(
            message: Self.message(content, to: conversation, push: push), conversation: conversation, position: 1,
            isUnread: unread > 0, isRecalled: isRecalled)
        return ConversationSummary(
            conversation: conversation, last: last,
            count: LocalUnreadCounts.Count(unread: unread, mentions: mentions), level: level, settings: settings,
            name: nil, portrait: nil, isDissolved: false)
    }

    private func row(_ item: ConversationSummary, sender: String? = nil, language: String = "en") -> ConversationRow {
        let words = InterfaceWords.words(for: language)
        let notifications = AppWords().words(for: language).words
        // A language whose times are the same everywhere.
        let texts = RowTexts(words: words.lists, notifications: notifications, time: Self.times("de"))
        return ConversationRow(item, title: "Bob", sender: sender, texts: texts, now: Self.now)
    }

    @Test func `says who, what, when and how much is unread`() {
        let row = self.row(self.item(unread: 2))
        #expect(row.title == "Bob" && row.summary == "Lunch?" && row.time == "11:00" && row.badge == "2")
        #expect(row.mark == nil && !row.isMuted && !row.isPinned && !row.isOfGroup)
        #expect(row.spoken == "Bob, 2 unread, Lunch?, 11:00")
    }

    @Test(arguments: [(0, nil), (1, "1"), (99, "99"), (100, "99+")] as [(Int, String?)])
    func `counts unread messages to 99`(unread: Int, badge: String?) {
        #expect(self.row(self.item(unread: unread)).badge == badge)
    }

    @Test func `names the sender in a group, and says what a message without words is`() {
        let row = self.row(self.item(.image(.init(url: "https://a.example/b.png")), type: .group), sender: "Bo")
        #expect(row.summary == "Bo: [Image]" && row.isOfGroup)
    }

    @Test func `shows the message's own text and not that of its push, in one line`() {
        #expect(self.row(self.item(.text("one\ntwo"), push: "secret")).summary == "one two")
    }

    @Test(arguments: [
        (
            "en", "[Draft]", "[Mentioned you]", "A message was recalled",
            "Bob, 1 unread, [Mentioned you], Lunch?, 11:00, Muted, Pinned"
        ),
        ("zh", "[草稿]", "[有人@我]", "一条消息已被撤回", "Bob, 1 条未读, [有人@我], Lunch?, 11:00, 已免打扰, 已置顶"),
    ])
    func `marks a draft, a mention, a recall, and what does not ring`(
        language: String, draft: String, mention: String, recall: String, spoken: String
    ) {
        let drafted = self.row(self.item(mentions: 1, draft: "Dear\nBob"), language: language)
        #expect(drafted.mark == draft && drafted.summary == "Dear Bob")
        let mentioned = self.row(
            self.item(unread: 1, mentions: 1, level: .blocked, isPinned: true), language: language)
        #expect(mentioned.mark == mention && mentioned.isMuted && mentioned.isPinned)
        #expect(mentioned.spoken == spoken)
        #expect(self.row(self.item(isRecalled: true), sender: nil, language: language).summary == recall)
    }

    @Test(arguments: [
        ("de", ["12:00", "Yesterday", "Montag", "28. Okt.", "4. Nov. 2025"]),
        ("zh-Hans", ["12:00", "昨天", "星期一", "10月28日", "2025年11月4日"]),
    ])
    func `writes a time as short as it is clear`(language: String, texts: [String]) {
        let times = Self.times(language)
        let ago: [Int64] = [0, 1, 2, 7, 365]
        #expect(ago.map { times.short(Self.now - $0 * Self.day, now: Self.now) } == texts)
        #expect(times.short(Self.now + 60_000, now: Self.now) == "12:01", "a clock that is ahead")
        #expect(times.short(Self.now - 13 * 3_600_000, now: Self.now) == texts[1], "yesterday is not 24 hours")
        #expect(times.long(Self.now - 60_000, now: Self.now) == "11:59")
        #expect(times.long(Self.now - Self.day, now: Self.now) == "\(texts[1]) 12:00")
    }

    @Test func `takes the person's own region where it speaks the language`() {
        let swiss = Locale(identifier: "de_CH")
        #expect(TimeText.locale(for: "de", current: swiss) == swiss)
        #expect(TimeText.locale(for: "zh-Hans", current: swiss).identifier.hasPrefix("zh"))
    }

    @Test func `offers what can be done with it`() {
        let plain = self.item()
        let other = self.item(unread: 1, level: .blocked, isPinned: true)
        #expect(ConversationListAction.leading(for: plain) == [.pin])
        #expect(ConversationListAction.leading(for: other) == [.markRead, .unpin])
        #expect(ConversationListAction.trailing(for: plain) == [.hide, .mute])
        #expect(ConversationListAction.trailing(for: other) == [.hide, .unmute])
        #expect(ConversationListAction.menu(for: other) == [.markRead, .unpin, .unmute, .hide])
        #expect(PersonSettings().levelThatRings(for: .group) == nil)
        #expect(PersonSettings(levels: [.group: .blocked]).levelThatRings(for: .group) == .all)
    }

    @Test func `has a line above it while there is no connection`() {
        let refused = ServerFrame.Problem(code: .kicked, field: "a", rule: "b")
        let states: [ConnectionStatus] = [
            .connected, .suspended, .connecting, .waiting(milliseconds: 1, reason: ""), .disconnected,
            .refused(refused),
        ]
        #expect(
            states.map { ConnectionNotice.text(for: $0, in: .english) } == [
                nil, nil, "Connecting…", "No connection. Trying again…", "Not connected", "This device is signed out.",
            ])
    }
}

@Suite struct `The forms of settings` {
    private let words = ListWords.english

    private func texts(_ sections: [FormSection]) -> [[String]] {
        sections.map { section in
            [section.header, section.footer].compactMap { $0 }
                + section.rows.map { [$0.title, $0.value, $0.detail].compactMap { $0 }.joined(separator: "|") }
        }
    }

    @Test func `say what may ring`() {
        var form = NotificationForm(person: PersonSettings(levels: [.group: .mentions]), types: [.direct, .group])
        #expect(form.sections(self.words).map(\.rows.count) == [1, 2, 1, 1, 1, 1])
        #expect(
            self.texts(form.sections(self.words))[1] == [
                "Notify me of", "Direct messages|All messages", "Groups|Mentions",
            ])
        form.system = SystemPermission(answer: .denied, banners: false, sounds: false, badge: false)
        #expect(
            self.texts(form.sections(self.words))[0] == [
                "iOS", "Notifications|Not allowed", "Open Settings",
            ])
        form.system = SystemPermission(answer: .quiet, banners: true, sounds: false, badge: true)
        #expect(
            self.texts(form.sections(self.words))[0] == [
                "iOS", "Notifications|Delivered quietly", "Banners|On", "Sounds|Off", "Number on the icon|On",
                "Open Settings",
            ])
    }

    @Test func `say when it is quiet`() {
        var hours = NotificationForm.usualHours(in: "Europe/Berlin")
        func rows() -> [FormRow] {
            NotificationForm(person: PersonSettings(quietHours: hours)).sections(self.words)[2].rows
        }
        #expect(
            rows().map(\.kind) == [
                .toggle(isOn: true), .time(minutes: 1_320), .time(minutes: 420), .toggle(isOn: true),
            ])
        hours.manner = .drop
        #expect(rows()[3].kind == .toggle(isOn: false))
    }

    @Test func `say where else the person is signed in`() {
        func device(_ id: DeviceID, seen: Int64?, push: OwnDevice.PushStatus = .registered, isCurrent: Bool = false)
            -> OwnDevice
        {
            OwnDevice(
                id: id, platform: "ios", isCurrent: isCurrent, lastSeenAt: seen, connectedAt: 1, push: push,
                appVersion: isCurrent ? "1.2" : nil, systemVersion: "17.4", model: isCurrent ? "iPhone16,1" : nil)
        }
        let devices = [
            device("a", seen: 5), device("b", seen: nil, isCurrent: true), device("c", seen: 9, push: .dead),
        ]
        let sections = DeviceForm.devices(devices).sections(self.words, again: "Again") { "t\($0)" }
        #expect(
            self.texts(sections) == [
                ["This device", "iOS 17.4|Connected now · iPhone16,1 · App 1.2"],
                ["Other devices", "iOS 17.4|Last seen t9 · Pushes do not reach it", "iOS 17.4|Last seen t5"],
            ])
        #expect(sections.map { $0.rows.map(\.swipe) } == [[nil], ["Sign Out", "Sign Out"]])
        let alone = DeviceForm.devices([devices[1]]).sections(self.words, again: "Again") { _ in "" }
        #expect(alone[1].rows.map(\.title) == ["No other devices"])
        #expect(
            self.texts(DeviceForm.failed("Why").sections(self.words, again: "Again") { _ in "" }) == [["Why", "Again"]])
    }

    @Test func `say what is set for a conversation, and who is in it`() {
        let group = ConversationID(type: .group, target: "team")
        var form = ConversationForm(conversation: group, title: "Team", person: "bob")
        form.info = ConversationInfo(
            id: group, version: 1, name: "Team", portrait: nil,
            members: [Member("alice"), Member("bob", role: .admin, nickname: "Bo"), Member("carol", role: .owner)],
            isDissolved: false)
        form.names = ["alice": "Alice"]
        #expect(
            self.texts(form.sections(self.words) { _ in "" }) == [
                ["Mute", "Mute for…", "Notify me of|As for all of its kind", "Pin"], ["My name here|Bo"],
                ["Members: 3", "carol|Owner", "Bo|Admin", "Alice"], ["Leave"],
            ])
        form.settings = ConversationSettings(level: .blocked, levelUntil: 9)
        #expect(
            self.texts(form.sections(self.words) { "t\($0)" })[0] == [
                "Mute|Until t9", "Notify me of|Nothing", "Pin",
            ])
        form.person = "dora"
        #expect(form.sections(self.words) { _ in "" }.map(\.id) == ["ring", "members"], "no member")
        form = ConversationForm(
            conversation: ConversationID(type: .direct, target: "bob"), title: "Bob", person: "alice")
        #expect(form.sections(self.words) { _ in "" }.last?.rows.map(\.title) == ["Block"])
        form.isBlocked = true
        #expect(form.sections(self.words) { _ in "" }.last?.rows.map(\.title) == ["Unblock"])
        form = ConversationForm(conversation: ConversationID(type: .chatRoom, target: "lobby"), title: "Lobby")
        #expect(form.sections(self.words) { _ in "" } == [])
        #expect(ConversationType.direct.levels == [.all, .blocked] && ConversationType.group.levels.count == 5)
    }

    @Test(arguments: [ListWords.english, .simplifiedChinese])
    func `have a name for every level, kind, role and action`(_ words: ListWords) {
        #expect(NotificationLevel.allCases.allSatisfy { words.levels[$0]?.isEmpty == false })
        #expect(ConversationType.allCases.allSatisfy { words.kinds[$0]?.isEmpty == false })
        #expect(MemberRole.allCases.allSatisfy { words.roles[$0]?.isEmpty == false })
        #expect(ConversationListAction.allCases.allSatisfy { words.actions[$0]?.isEmpty == false })
    }
}
