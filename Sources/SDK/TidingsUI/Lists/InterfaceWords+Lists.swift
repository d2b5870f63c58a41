import Foundation
public import TidingsModel

/// The words of the list of conversations and the screens of settings and devices beside names and messages, in one language. `{name}`,
/// `{count}` and `{time}` stand for the subject of the sentence.
public struct ListWords: Hashable, Sendable {
    /// How VoiceOver says that something is on.
    public var on: String
    /// How VoiceOver says that something is off.
    public var off: String
    /// The list's title.
    public var conversations: String
    /// There is no conversation yet.
    public var noConversations: String
    /// The list cannot be read on this device.
    public var listUnreadable: String
    /// A connection is being made.
    public var connecting: String
    /// The connection is lost and tried again.
    public var waiting: String
    /// Nobody has asked for a connection.
    public var disconnected: String
    /// The server refuses this device until the person signs in again.
    public var refused: String
    /// Before what is written and not sent.
    public var draft: String
    /// Before a conversation in which an unread message mentions this person.
    public var mentioned: String
    /// How many messages are unread, for VoiceOver: `{count}`.
    public var unread: String
    /// A conversation of which nothing rings, for VoiceOver.
    public var muted: String
    /// A conversation that stays at the top, for VoiceOver.
    public var pinned: String
    /// The titles of a person's actions on a conversation.
    public var actions: [ConversationListAction: String]
    /// Who asks this person in: `{name}`.
    public var invites: String
    /// Accepts an invitation.
    public var accept: String
    /// Declines an invitation.
    public var decline: String
    /// The title of the screen.
    public var notifications: String
    /// The section of what iOS allows.
    public var allowedBySystem: String
    /// iOS shows notifications.
    public var permissionAllowed: String
    /// iOS keeps them in the list only.
    public var permissionQuiet: String
    /// iOS shows none.
    public var permissionDenied: String
    /// The person was never asked.
    public var permissionUnasked: String
    /// Banners of iOS.
    public var banners: String
    /// Sounds of iOS.
    public var sounds: String
    /// The number on the icon.
    public var badge: String
    /// Opens the Settings app.
    public var openSettings: String
    /// The levels by name.
    public var levels: [NotificationLevel: String]
    /// A conversation without a level of its own.
    public var levelOfKind: String
    /// Kinds of conversations by name.
    public var kinds: [ConversationType: String]
    /// The switch for hours in which nothing rings.
    public var quietHours: String
    /// When they begin.
    public var quietFrom: String
    /// When they end.
    public var quietTo: String
    /// Names the switch for ringing after quiet hours for the messages that came in them.
    public var quietLater: String
    /// Explains quiet hours.
    public var quietExplained: String
    /// The switch that keeps text out of notifications.
    public var hideContent: String
    /// Explains the switch that hides content.
    public var hideContentExplained: String
    /// The switch for banners and sounds while the app is open.
    public var ringInApp: String
    /// The section of people whom this person has blocked.
    public var blocked: String
    /// It is empty.
    public var nobodyBlocked: String
    /// Unblocks a person.
    public var unblock: String
    /// Asks whether to: `{name}`.
    public var askUnblock: String
    /// The title of the screen.
    public var devices: String
    /// The section of the device in hand.
    public var thisDevice: String
    /// The section of the others.
    public var otherDevices: String
    /// There is no other.
    public var noOtherDevices: String
    /// The list is on its way.
    public var loading: String
    /// A device that is connected.
    public var connectedNow: String
    /// When a device was seen last: `{time}`.
    public var lastSeen: String
    /// Which version of the app it has: `{version}`.
    public var appVersion: String
    /// Pushes do not reach it.
    public var noPush: String
    /// Signs out on another device.
    public var signOut: String
    /// Asks whether to: `{name}`.
    public var askSignOut: String
    /// The title of the screen, and of the button that opens it.
    public var details: String
    /// The row of the level.
    public var level: String
    /// Mutes until a time.
    public var muteFor: String
    /// Until when it is muted: `{time}`.
    public var mutedUntil: String
    /// For how long: an hour, eight hours, a week.
    public var spans: [String]
    /// The section of members: `{count}`.
    public var members: String
    /// The roles of members who may do more than others.
    public var roles: [MemberRole: String]
    /// This person's nickname in the group.
    public var nickname: String
    /// Keeps what was entered.
    public var save: String
    /// Leaves a group.
    public var leave: String
    /// Asks whether to: `{name}`.
    public var askLeave: String
    /// Blocks the other person.
    public var block: String
    /// Asks whether to: `{name}`.
    public var askBlock: String

    func title(of action: ConversationListAction) -> String { self.actions[action] ?? "\(action)" }
    func name(of level: NotificationLevel) -> String { self.levels[level] ?? level.rawValue }
    /// A sentence with what it is about.
    func filled(_ sentence: KeyPath<ListWords, String>, _ name: String, _ value: String) -> String {
        self[keyPath: sentence].replacingOccurrences(of: "{\(name)}", with: value)
    }

    func state(_ isOn: Bool) -> String { isOn ? self.on : self.off }
}

extension ListWords {
    /// English.
    public static let english = ListWords(
        on: "On", off: "Off", conversations: "Chats", noConversations: "No conversations yet",
        listUnreadable: "The conversations cannot be read.", connecting: "Connecting…",
        waiting: "No connection. Trying again…", disconnected: "Not connected", refused: "This device is signed out.",
        draft: "[Draft]", mentioned: "[Mentioned you]", unread: "{count} unread", muted: "Muted", pinned: "Pinned",
        actions: [
            .markRead: "Mark as Read", .pin: "Pin", .unpin: "Unpin", .mute: "Mute", .unmute: "Unmute", .hide: "Hide",
        ], invites: "{name} invites you", accept: "Accept", decline: "Decline", notifications: "Notifications",
        allowedBySystem: "iOS", permissionAllowed: "Allowed", permissionQuiet: "Delivered quietly",
        permissionDenied: "Not allowed", permissionUnasked: "Not asked yet", banners: "Banners", sounds: "Sounds",
        badge: "Number on the icon", openSettings: "Open Settings",
        levels: [
            .all: "All messages", .mentions: "Mentions", .mentionsOfMe: "Mentions of me",
            .mentionsOfAll: "Mentions of everybody", .blocked: "Nothing",
        ], levelOfKind: "As for all of its kind",
        kinds: [
            .direct: "Direct messages", .group: "Groups", .discussion: "Discussions",
            .customerService: "Customer service", .system: "System messages",
            .appPublicService: "Accounts of this app", .publicService: "Accounts", .pushService: "Announcements",
            .chatRoom: "Chat rooms",
        ], quietHours: "Quiet hours", quietFrom: "From", quietTo: "To",
        quietLater: "Notify afterwards", quietExplained: "Nothing rings in these hours, on all of your devices.",
        hideContent: "Hide messages' text",
        hideContentExplained: "Notifications then say only that there is a message, on all of your devices.",
        ringInApp: "Banner and sound while the app is open", blocked: "Blocked people",
        nobodyBlocked: "Nobody is blocked", unblock: "Unblock", askUnblock: "Unblock {name}?", devices: "My Devices",
        thisDevice: "This device", otherDevices: "Other devices", noOtherDevices: "No other devices",
        loading: "Loading…", connectedNow: "Connected now", lastSeen: "Last seen {time}", appVersion: "App {version}",
        noPush: "Pushes do not reach it", signOut: "Sign Out", askSignOut: "Sign out on {name}?", details: "Details",
        level: "Notify me of", muteFor: "Mute for…", mutedUntil: "Until {time}",
        spans: ["1 hour", "8 hours", "1 week"], members: "Members: {count}",
        roles: [.owner: "Owner", .admin: "Admin", .member: "Member"], nickname: "My name here", save: "Save",
        leave: "Leave", askLeave: "Leave {name}?", block: "Block", askBlock: "Block {name}?")

    /// Simplified Chinese.
    public static let simplifiedChinese = ListWords(
        on: "开", off: "关", conversations: "消息", noConversations: "还没有会话", listUnreadable: "无法读取会话。",
        connecting: "连接中…", waiting: "网络未连接，正在重试…", disconnected: "未连接", refused: "本设备已退出登录。", draft: "[草稿]",
        mentioned: "[有人@我]", unread: "{count} 条未读", muted: "已免打扰", pinned: "已置顶",
        actions: [.markRead: "标为已读", .pin: "置顶", .unpin: "取消置顶", .mute: "免打扰", .unmute: "取消免打扰", .hide: "不显示"],
        invites: "{name}邀请你加入", accept: "接受", decline: "拒绝", notifications: "通知", allowedBySystem: "系统",
        permissionAllowed: "已允许", permissionQuiet: "静默送达", permissionDenied: "未允许", permissionUnasked: "尚未询问",
        banners: "横幅", sounds: "声音", badge: "图标角标", openSettings: "打开系统设置",
        levels: [.all: "所有消息", .mentions: "仅@消息", .mentionsOfMe: "仅@我", .mentionsOfAll: "仅@所有人", .blocked: "不通知"],
        levelOfKind: "与同类会话相同",
        kinds: [
            .direct: "单聊", .group: "群聊", .discussion: "讨论组", .customerService: "客服", .system: "系统消息",
            .appPublicService: "应用公众号", .publicService: "公众号", .pushService: "公告", .chatRoom: "聊天室",
        ], quietHours: "勿扰时段", quietFrom: "从", quietTo: "至", quietLater: "结束后通知",
        quietExplained: "在此时段内，你的所有设备都不会响铃。", hideContent: "隐藏消息内容", hideContentExplained: "通知只提示有新消息，对你的所有设备生效。",
        ringInApp: "打开应用时显示横幅和声音", blocked: "黑名单", nobodyBlocked: "黑名单为空", unblock: "移出黑名单",
        askUnblock: "将{name}移出黑名单？", devices: "我的设备", thisDevice: "本设备", otherDevices: "其他设备",
        noOtherDevices: "没有其他设备", loading: "加载中…", connectedNow: "当前在线", lastSeen: "最近在线：{time}",
        appVersion: "应用版本 {version}", noPush: "收不到推送", signOut: "退出登录", askSignOut: "退出{name}上的登录？", details: "聊天信息",
        level: "通知范围", muteFor: "定时免打扰…", mutedUntil: "至{time}", spans: ["1 小时", "8 小时", "1 周"],
        members: "成员：{count}", roles: [.owner: "群主", .admin: "管理员", .member: "成员"], nickname: "我在本群的昵称", save: "保存",
        leave: "退出", askLeave: "退出{name}？", block: "加入黑名单", askBlock: "将{name}加入黑名单？")
}
