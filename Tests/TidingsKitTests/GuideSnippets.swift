import ClientCore
import Foundation
import TidingsClient
import TidingsKit
import TidingsModel
import UserNotifications

// What docs/sdk.md shows beside the example app, compiled: the tidy test holds that the page shows these lines.

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

@MainActor private func presentation(_ kit: NotificationIntegration, isOpen: @escaping (ConversationID) -> Bool) {
    kit.presentation = { notification in
        guard !notification.isSilenced else { return .badge }
        if let payload = notification.payload, isOpen(payload.conversation) { return [] }
        return [.banner, .list, .sound, .badge]
    }
}

@MainActor private func onTop(
    _ kit: NotificationIntegration, _ executor: NavigationExecutor, showNews: @escaping (JSONValue) -> Void
) {
    kit.detailTypes = ["news"]
    kit.responseHandler = { response in
        switch response.route {
        case .conversation: executor.open(response.route, by: NotificationRouter(policy: .onTop))
        case .detail: showNews(response.userInfo)
        }
    }
}

private func customMessages(_ client: ChatClient, take: @escaping @Sendable (String?, String) -> Void) async {
    for await message in client.customMessages {
        take(message.contentType, message.content)
    }
}

private func levels(_ client: ChatClient, team: ConversationID) throws -> (shown: Int, all: Int) {
    try client.setNotificationLevel(.mentions, for: team)
    let shown = try client.unreadMessageCount()
    let all = try client.unreadMessageCount(includingMuted: true)
    return (shown, all)
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
