// swift-format-ignore-file: NeverForceUnwrap
import TidingsModel

private let first = MessageID("01qdq6qdr0000")!
private let second = MessageID("01qdq6qdr0001")!
private let team = ConversationID(type: .group, target: "team")
private let lobby = ConversationID(type: .chatRoom, target: "lobby")
private let alice = ConversationID(type: .direct, target: "alice")

private let settings = PersonSettings(
    levels: [.system: .blocked, .group: .mentions],
    quietHours: QuietHours(start: 1_320, end: 420, weekdays: [1, 5], timeZone: "Europe/Berlin", manner: .drop),
    hidesContent: true, language: "zh-Hans")

private let listed: ConversationSettings = {
    var settings = ConversationSettings(level: .mentions)
    settings.pinnedAt = 1_763_683_200_005
    settings.isArchived = true
    settings.hiddenUpTo = second
    settings.draft = ConversationDraft(text: "ho", writtenAt: 1_763_683_200_006)
    return settings
}()

private func directed(in type: ConversationType) -> Message {
    Message(
        id: second, app: "demo", sender: "alice", conversation: ConversationID(type: type, target: "team"),
        clientMessageID: "c-3", objectName: .text, content: "{}", flags: .normal, pushText: nil,
        sentAt: 1_763_683_200_001, mentions: .users(["bob"]), recipients: ["bob", "carol"],
        expiresAt: 1_763_683_260_001)
}

/// What the client vectors of groups, requests and typing mean.
let requestFrames: [String: ClientFrame] = [
    "send-to-some": .send(
        MessageDraft(
            clientMessageID: "c-3", conversation: team, objectName: .text, content: "{}",
            mentions: .users(["bob", "carol"]), recipients: ["bob", "carol"], lifetimeMilliseconds: 60_000)),
    "send-to-everyone": .send(
        MessageDraft(
            clientMessageID: "c-4", conversation: team, objectName: .text, content: "{}", mentions: .everyone)),
    "request-create": .request(
        1,
        .change(
            team, .create(name: "Team", portrait: "https://example.com/t.png", members: ["bob", "carol"]))),
    "request-add": .request(2, .change(team, .add(["dave", "erin"]))),
    "request-join": .request(3, .change(team, .join)),
    "request-remove": .request(4, .change(team, .remove(["dave"]))),
    "request-leave": .request(5, .change(team, .leave)),
    "request-rename": .request(6, .change(team, .rename("Tëam"))),
    "request-set-portrait": .request(7, .change(team, .setPortrait(nil))),
    "request-set-role": .request(8, .change(team, .setRole("bob", .admin))),
    "request-set-nickname": .request(9, .change(team, .setNickname("bob", "Bobby"))),
    "request-dissolve": .request(10, .change(team, .dissolve)),
    "request-recall": .request(11, .recall(first)),
    "request-edit": .request(12, .edit(first, content: #"{"content":"ho"}"#)),
    "request-delete": .request(13, .delete(Deletion(conversation: team, messages: [first, second]))),
    "request-set-conversation-settings": .request(
        14,
        .setConversationSettings(
            team, ConversationSettings(level: .mentionsOfMe, levelUntil: 1_763_683_260_000))),
    "request-clear-conversation-settings": .request(15, .setConversationSettings(team, ConversationSettings())),
    "request-set-person-settings": .request(16, .setPersonSettings(settings)),
    "request-set-blocked": .request(17, .setBlocked("mallory", true)),
    "request-conversation": .request(18, .conversation(team)),
    "request-settings": .request(19, .settings),
    "request-history": .request(20, .history(team, before: first, limit: 50)),
    "request-enter-room": .request(21, .enterRoom(lobby, history: 20)),
    "request-exit-room": .request(.max, .exitRoom(lobby)),
    "request-receipts": .request(22, .receipts(first)),
    "request-watch": .request(23, .watch(["bob", "carol"])),
    "request-unwatch": .request(24, .unwatch(["bob"])),
    "request-set-profile": .request(30, .setProfile(Profile(name: "Ann", portrait: "https://a/b.png"))),
    "request-set-profile-empty": .request(31, .setProfile(Profile())),
    "request-profiles": .request(32, .profiles(["bob", "carol"])),
    "request-set-following": .request(
        52, .setFollowing(ConversationID(type: .publicService, target: "news"), true)),
    "request-following": .request(54, .following),
    "request-set-tags": .request(55, .setTags(["shoes", "vip"])),
    "request-no-tags": .request(56, .setTags([])),
    "request-register-voip": .request(
        33,
        .registerVoIP(
            PushRegistration(token: "00ff", environment: .production, topic: "com.example.chat.voip"))),
    "request-register-voip-none": .request(34, .registerVoIP(nil)),
    "request-devices": .request(46, .devices),
    "request-sign-out-device": .request(47, .signOutDevice("tablet")),
    "request-pin": .request(48, .setConversationState(team, .pinned(true))),
    "request-take-from-archive": .request(49, .setConversationState(team, .archived(false))),
    "request-hide": .request(50, .setConversationState(team, .hidden(upTo: first))),
    "request-show": .request(51, .setConversationState(team, .hidden(upTo: nil))),
    "request-draft": .request(52, .setConversationState(team, .draft("ho"))),
    "request-no-draft": .request(53, .setConversationState(team, .draft(nil))),
    "request-renew-token": .request(25, .renewToken("eyJ.c.d")),
    "request-ban": .request(26, .change(lobby, .ban(["bob", "carol"], until: 1_763_683_260_000))),
    "request-ban-for-good": .request(27, .change(lobby, .ban(["bob"], until: nil))),
    "request-unban": .request(28, .change(lobby, .unban(["bob"]))),
    "request-mute": .request(33, .change(lobby, .mute(["bob", "carol"], until: 1_763_683_260_000))),
    "request-mute-for-good": .request(34, .change(team, .mute(["bob"], until: nil))),
    "request-unmute": .request(35, .change(team, .unmute(["bob"]))),
    "request-only-admins-write": .request(36, .change(team, .setOnlyAdminsWrite(true))),
    "request-everybody-writes": .request(37, .change(team, .setOnlyAdminsWrite(false))),
    "request-decline": .request(38, .change(team, .decline)),
    "request-withdraw": .request(39, .change(team, .withdraw(["carol"]))),
    "request-set-may-be-added-by": .request(40, .setPersonSettings(PersonSettings(mayBeAddedBy: .contacts))),
    "typing": .typing(ConversationID(type: .direct, target: "bob"), isTyping: true),
]

/// What the server vectors of groups, settings, answers and signals mean.
let answerFrames: [String: ServerFrame] = [
    "entry-message-to-some": .entry(LogEntry(position: 45, body: .message(directed(in: .group)))),
    "entry-edit": .entry(
        LogEntry(
            position: 46,
            body: .edit(
                Edit(
                    message: first, conversation: alice, content: #"{"content":"ho"}"#, at: 1_763_683_200_003)))),
    "entry-deletion": .entry(
        LogEntry(position: 47, body: .deletion(Deletion(conversation: team, messages: [first])))),
    "entry-conversation-settings": .entry(
        LogEntry(position: 48, body: .conversationSettings(team, ConversationSettings(level: .blocked)))),
    "entry-conversation-state": .entry(LogEntry(position: 57, body: .conversationSettings(team, listed))),
    "entry-person-settings": .entry(LogEntry(position: 49, body: .personSettings(settings))),
    "entry-no-person-settings": .entry(LogEntry(position: 50, body: .personSettings(PersonSettings()))),
    "entry-blocked": .entry(LogEntry(position: 51, body: .blocked("mallory", false))),
    "entry-change": .entry(
        LogEntry(
            position: 52,
            body: .change(
                ConversationChange(
                    conversation: team, version: 7, action: .remove(["dave"]), by: "alice", at: 1_763_683_200_004)))),
    "entry-change-by-backend": .entry(
        LogEntry(
            position: 53,
            body: .change(
                ConversationChange(
                    conversation: team, version: 8, action: .dissolve, by: nil, at: 1_763_683_200_005)))),
    "entry-invitation": .entry(
        LogEntry(
            position: 55,
            body: .change(
                ConversationChange(
                    conversation: team, version: 9,
                    action: .invite(["carol"], name: "Team", portrait: "https://example.com/t.png"), by: "alice",
                    at: 1_763_683_200_004)))),
    "answer-invited": .answer(9, .invited(["bob", "carol"], 56)),
    "answer-muted-members": .answer(
        10,
        .conversation(
            ConversationInfo(
                id: team, version: 9, name: "Team", portrait: nil,
                members: [Member("bob", mute: Mute(until: 1_763_683_260_000)), Member("carol", mute: Mute())],
                isDissolved: false, onlyAdminsWrite: true))),
    "entry-unknown": .entry(LogEntry(position: 54, body: .unknown)),
    "answer-done": .answer(1, .done(55)),
    "answer-done-without-entry": .answer(2, .done(0)),
    "answer-refused": .answer(
        3, .refused(ServerFrame.Problem(code: .tooLate, field: "message", rule: "is older than 120 seconds"))),
    "answer-conversation": .answer(
        4,
        .conversation(
            ConversationInfo(
                id: team, version: 8, name: "Team", portrait: "https://example.com/t.png",
                members: [Member("alice", role: .owner), Member("bob", nickname: "Bobby")], isDissolved: true))),
    "answer-settings": .answer(
        5,
        .settings(
            AllSettings(
                person: PersonSettings(hidesContent: true), conversations: [team: ConversationSettings(level: .all)],
                blocked: ["mallory", "trent"]))),
    "answer-history": .answer(6, .history([directed(in: .group)], hasMore: true)),
    "signal-typing": .signal(.typing(team, "bob", isTyping: true)),
    "signal-room": .signal(.room(directed(in: .chatRoom))),
    "answer-receipts": .answer(
        7, .receipts(MessageReceipts(id: first, recipients: 3, delivered: ["bob", "carol"], read: ["bob"]))),
    "answer-profiles": .answer(
        32,
        .profiles([UserProfile("bob", Profile(name: "Bob")), UserProfile("carol", Profile())])),
    "answer-devices": .answer(
        46,
        .devices([
            OwnDevice(
                id: "phone", platform: "ios", isCurrent: true, lastSeenAt: nil, connectedAt: 1_763_683_200_007,
                push: .registered, appVersion: "2.0", systemVersion: "26.1", model: "iPhone16,1"),
            OwnDevice(
                id: "tablet", platform: "ios", isCurrent: false, lastSeenAt: 1_763_683_200_008,
                connectedAt: 1_763_683_200_007, push: .none),
        ])),
    "answer-tags": .answer(55, .tags(["shoes", "vip"])),
    "answer-following": .answer(
        54,
        .following([
            ConversationID(type: .appPublicService, target: "tips"),
            ConversationID(type: .publicService, target: "news"),
        ])),
    "answer-presence": .answer(
        8,
        .presence([
            Presence(id: "bob", isOnline: true),
            Presence(id: "carol", isOnline: false, lastSeenAt: 1_763_683_200_006),
        ])),
    "signal-presence": .signal(
        .presence(Presence(id: "bob", isOnline: false, lastSeenAt: 1_763_683_200_006))),
    "signal-receipt": .signal(
        .receipt(ConversationID(type: .direct, target: "bob"), "bob", .read, upTo: first)),
]
