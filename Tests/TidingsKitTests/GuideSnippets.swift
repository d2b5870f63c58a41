import ClientCore
import Foundation
import TidingsClient
import TidingsKit
import TidingsModel
import UserNotifications

// What the pages of docs/app show beside the example app, compiled: the tidy test holds that the pages show these lines.

/// What the documentation of `ChatClient` itself shows.
private func entryPoint(url: URL, fetchUserToken: @escaping @Sendable () async throws -> String) async throws {
    let client = ChatClient(configuration: .init(appKey: "demo", serverURL: url))
    try await client.connect(userID: "alice") { try await fetchUserToken() }
    let message = try await client.send(text: "hi", to: ConversationID(type: .direct, target: "bob"))
    _ = message
}

/// Shows nothing of the kit's for what the app shows itself.
private final class QuietRooms: LocalNotificationDelegate {
    func client(
        _ client: ChatClient, shouldHandleNotificationFor message: Message, senderName: String
    ) async -> Bool { message.conversation.type == .customerService }
}

/// Names from the app's own directory; nil for whom it does not know.
private struct Directory: UserInfoProvider, GroupInfoProvider, GroupMemberInfoProvider {
    var people: [UserID: String]
    var groups: [ConversationID: String]
    var nicknames: [ConversationID: [UserID: String]]

    func userInfo(for id: UserID) async -> UserInfo? { self.people[id].map { UserInfo(name: $0) } }
    func groupInfo(for id: ConversationID) async -> GroupInfo? { self.groups[id].map { GroupInfo(name: $0) } }
    func memberName(of user: UserID, in group: ConversationID) async -> String? { self.nicknames[group]?[user] }
}

private func accounts(_ client: ChatClient) async throws {
    let customer = ConversationID(type: .customerService, target: "bob")
    try await client.send(text: "How can we help?", to: customer, as: "help")
    let news = ConversationID(type: .publicService, target: "news")
    try await client.follow(news)
    let isFollowed = try await client.followedAccounts().contains(news)
    try await client.unfollow(news)
    _ = isFollowed
    try await client.setTags(["shoes", "vip"])
}

@MainActor private func names(_ kit: NotificationIntegration, _ directory: Directory) {
    kit.userInfoProvider = directory
    kit.groupInfoProvider = directory
    kit.groupMemberInfoProvider = directory
    kit.refreshUserInfo(UserInfo(name: "Alice"), for: "alice")
    kit.refreshGroupInfo(GroupInfo(name: "The team"), for: ConversationID(type: .group, target: "team"))
}

@MainActor private func banners(
    _ kit: NotificationIntegration, _ client: ChatClient, _ conversation: ConversationID, show: (InAppBanner) -> Void
) async {
    client.ringsInForeground = true
    client.activeConversation = conversation
    for await banner in kit.inAppBanners { show(banner) }
}

@MainActor private func presentation(_ kit: NotificationIntegration, isOpen: @escaping (ConversationID) -> Bool) {
    kit.presentation = { notification in
        guard !notification.isSilenced else { return .badge }
        if let payload = notification.payload, isOpen(payload.conversation) { return [] }
        return [.banner, .list, .sound, .badge]
    }
}

@MainActor private func table(_ kit: NotificationIntegration) throws {
    kit.router = try NotificationRouter(table: [
        .conversations(.onTop),
        .kind(.group, .fromRoot(tab: 1)),
        .detail(types: ["commentpass", "commentfail"], screen: "comments", .fromRoot(tab: 2)),
    ])
}

private func customMessages(_ client: ChatClient, take: @escaping @Sendable (String?, String) -> Void) async {
    for await message in client.customMessages {
        take(message.contentType, message.content)
    }
}

private func levels(_ client: ChatClient, team: ConversationID, tomorrow: Date) throws -> [Int] {
    try client.setNotificationLevel(.mentions, for: team)
    try client.setNotificationLevel(.blocked, for: team, until: tomorrow)
    try client.setNotificationLevel(.mentions, forAll: .group)

    let shown = try client.unreadMessageCount()
    let all = try client.unreadMessageCount(includingMuted: true)
    let here = try client.unreadCount(of: team)
    let mentions = try client.mentionCount()

    return [shown, all, here, mentions]
}

private func settings(_ client: ChatClient) async throws {
    let night = QuietHours(start: 22 * 60, end: 7 * 60, timeZone: "Europe/Berlin")
    try client.setQuietHours(night)
    try client.setHidesNotificationContent(true)
    try client.setPushLanguage("zh-Hans")
    try await client.block("mallory")
}

private func list(
    _ client: ChatClient, team: ConversationID, lobby: ConversationID, show: (String) -> Void
) async throws -> [ConversationSummary] {
    try client.setPinned(true, for: team)
    try client.setArchived(true, for: lobby)
    try client.setHidden(true, for: team)
    try client.setDraft("Dear all", for: team)

    let list = try client.conversations()
    let archived = try client.archivedConversations()
    let draft = try client.draft(for: team)?.text
    for await change in client.conversationSettingsChanges where change.conversation == team {
        show(change.settings.draft?.text ?? "")
    }

    return draft == nil ? list : archived
}

private func devices(_ client: ChatClient, show: (String) -> Void) async throws {
    for device in try await client.devices() where !device.isCurrent {
        show("\(device.model ?? device.platform) \(device.systemVersion ?? ""), seen \(device.lastSeenAt ?? 0)")
        try await client.signOut(device: device.id)
    }
}

private func groups(_ client: ChatClient, report: (String) -> Void) async throws {
    let team = try await client.createGroup(named: "Team", members: ["bob", "carol"])
    try await client.setNickname("Al", of: "alice", in: team)
    do {
        try await client.removeMembers(["bob"], from: team)
    } catch ChatError.notAllowed(let reason) {
        report(reason)
    }
    let info = try await client.conversationInfo(team)

    report("\(info.name): \(info.members.count)")
}

private func ruling(
    _ client: ChatClient, team: ConversationID, info: ConversationInfo, tomorrow: Date
) async throws -> Bool {
    try await client.mute(["mallory"], in: team, until: tomorrow)
    try await client.setOnlyAdminsWrite(true, in: team)
    let mayWrite = info.mayWrite("bob", at: Int64(Date().timeIntervalSince1970 * 1_000))

    return mayWrite
}

private func consent(_ client: ChatClient, show: (String) -> Void) async throws {
    try client.setMayBeAdded(by: .contacts)
    for invitation in try client.invitations() {
        show("\(invitation.by) invites you to \(invitation.name)")
        try await client.join(invitation.id)
    }
    for await change in client.invitationChanges {
        switch change {
        case .made(let invitation): show(invitation.name)
        case .ended(let conversation): show("no invitation to \(conversation) any more")
        }
    }
}

private func revisions(_ client: ChatClient, team: ConversationID) async throws -> [StoredMessage] {
    let sent = try await client.send(text: "Lunch, @bob?", to: team, mentions: .users(["bob"]), lifetime: 3_600)
    try await client.edit(sent.id, text: "Lunch at one, @bob?")
    try await client.recall(sent.id)
    try await client.deleteMessages([sent.id], in: team)

    let older = try await client.serverHistory(conversation: team, before: sent.id, limit: 50)
    let found = try client.search("北京", in: team)

    return older.messages.isEmpty ? found : []
}

private func contents(_ client: ChatClient, team: ConversationID, show: (String) -> Void) async throws {
    try await client.send(.image(.init(url: "https://files.example.com/cat.jpg")), to: team)
    try await client.send(.location(.init(latitude: 52.52, longitude: 13.4, name: "Museum Island")), to: team)
    try await client.sendCommand("refresh", data: "calendar", to: team)

    for message in try client.history(conversation: team) {
        switch message.content {
        case .text(let text): show(text)
        case .image(let image): show("image at \(image.url)")
        case .location(let place): show(place.name ?? "\(place.latitude), \(place.longitude)")
        case .file, .voice, .video, .link, .command, .custom: show(message.message.objectName.rawValue)
        }
    }
}

private func files(
    _ client: ChatClient, team: ConversationID, recording: URL, photo: URL, place: URL, thumbnails: any ThumbnailMaker,
    message: StoredMessage, bar: (Double) -> Void
) async throws {
    let upload = try client.uploadMedia(recording)
    for await progress in upload.progress { bar(progress.fraction) }
    try await client.send(.voice(.init(url: try await upload.media.reference, seconds: 12)), to: team)

    try await client.sendImage(photo, to: team, thumbnails: thumbnails)
    if case .image(let image) = message.content, let media = MediaID(reference: image.url) {
        try await client.downloadMedia(media, in: message.id, to: place)
    }
}

private func pushOptions(_ client: ChatClient, to conversation: ConversationID) async throws {
    try await client.send(text: "On my way", to: conversation, push: PushOptions(sound: "horn.caf"))
}

private func room(_ client: ChatClient, lobby: ConversationID, show: (Message) -> Void) async throws {
    let live = client.roomMessages(lobby)
    for message in try await client.enterRoom(lobby, history: 20) { show(message) }
    for await message in live { show(message) }
}

private func typing(_ client: ChatClient, team: ConversationID, show: (UserID, Bool) -> Void) async {
    client.setTyping(true, in: team)
    for await change in client.typingChanges { show(change.user, change.isTyping) }
}

private func watching(_ client: ChatClient, bob: UserID, carol: UserID, show: (UserID, Bool) -> Void) async throws {
    for presence in try await client.watch([bob, carol]) { show(presence.id, presence.isOnline) }
    for await change in client.presenceChanges { show(change.id, change.isOnline) }
}

private func receipts(_ client: ChatClient, sent: Message, show: (UserID, ReceiptKind) -> Void) async throws -> Int {
    let receipts = try await client.receipts(of: sent.id)
    for await change in client.receiptChanges { show(change.user, change.kind) }

    return receipts.recipients - receipts.read.count
}

@MainActor private func switches(_ client: ChatClient) {
    client.isLocalNotificationEnabled = false
    client.showsNotificationContent = false
    client.isBadgeManaged = false
}

private func foreignBadge(takesBack: Bool) throws -> Int? {
    let badge = try BadgeStore(appGroupIdentifier: "group.com.example.chat")
    return takesBack ? try badge.decrement() : try badge.increment()
}

private func problems(_ client: ChatClient, log: @escaping @Sendable (String) -> Void) async {
    for await problem in client.problems { log("\(problem)") }
}

private func gaps(_ client: ChatClient, team: ConversationID, show: ([StoredMessage]) -> Void) async throws {
    for await stream in client.streamGaps where stream == .messages {
        show(try client.history(conversation: team))
    }
}

@MainActor private func provisional(_ kit: NotificationIntegration) async -> Bool {
    await kit.registerForNotifications(options: [.alert, .badge, .sound, .provisional])
}

@MainActor private func refresh(_ kit: NotificationIntegration) {
    let identifier = "com.example.chat.refresh"
    if kit.registerBackgroundRefresh(identifier: identifier) {
        kit.scheduleBackgroundRefresh(identifier: identifier)
    }
}

private func leave(_ client: ChatClient) async {
    await client.signOut()
}

private func ownWords(_ url: URL) -> ChatClient.Configuration {
    var configuration = ChatClient.Configuration(appKey: "demo", serverURL: url)
    configuration.words = AppWords(
        language: "de",
        byLanguage: [
            "de": NotificationWords(
                kinds: [.image: "[Bild]", "my:Poll": "[Umfrage]"], other: "Neue Nachricht",
                hidden: "Du hast eine neue Nachricht",
                recalled: "Eine Nachricht wurde zurückgezogen", stripped: "Du hast eine Mitteilung")
        ])
    return configuration
}
