/// The words of a conversation's screen beside names and messages, in one language. Names and numbers stand in braces. An app's own words
/// begin with the built-in ones.
///
/// ```swift
/// var words = ChatWords.english
/// words.send = "Senden"
/// ```
public struct ChatWords: Hashable, Sendable {
    /// The placeholder of the field that a message is typed into.
    public var message: String
    /// Sends what is typed.
    public var send: String
    /// Opens what can be attached.
    public var more: String
    /// Attaches a photo.
    public var photo: String
    /// Leaves everything as it is.
    public var cancel: String
    /// Takes a screen away.
    public var close: String
    /// Takes a notice away.
    public var confirm: String
    /// Opens what is set for the conversation.
    public var settings: String
    /// The day that is.
    public var today: String
    /// The day before.
    public var yesterday: String
    /// Who has written it, where that is the person.
    public var you: String
    /// A message on its way.
    public var sending: String
    /// A message that waits until there is a connection.
    public var waiting: String
    /// A file on its way; `{percent}` of it is there.
    public var uploading: String
    /// A message that the server has.
    public var sent: String
    /// A message that has arrived on a device of the other person.
    public var delivered: String
    /// A message that the other person has read.
    public var read: String
    /// A message that `{count}` of `{total}` people have read.
    public var readBy: String
    /// A message that was not sent and is kept.
    public var notSent: String
    /// Sends it again.
    public var retry: String
    /// A message whose sender has changed what it says.
    public var edited: String
    /// In the place of a message that the person has recalled.
    public var recalledByYou: String
    /// In the place of a message that `{name}` has recalled.
    public var recalledBy: String
    /// Puts the text of a recalled message back where it was typed.
    public var editAgain: String
    /// Above the first message that was unread.
    public var unreadHere: String
    /// Goes to the first of `{count}` unread messages.
    public var unreadAbove: String
    /// Goes to `{count}` messages that have come meanwhile.
    public var newBelow: String
    /// `{name}` types.
    public var typing: String
    /// `{count}` people type.
    public var severalTyping: String
    /// Answers a message.
    public var reply: String
    /// Above the field while a message of `{name}` is answered.
    public var replyTo: String
    /// Copies what a message says.
    public var copy: String
    /// Changes what a message says.
    public var edit: String
    /// Above the field while a message is changed.
    public var editing: String
    /// Takes a message back from everybody.
    public var recall: String
    /// Deletes a message on the person's devices.
    public var delete: String
    /// Asks before a message is deleted.
    public var deleteQuestion: String
    /// Shows who has read a message.
    public var readers: String
    /// A list of people without anybody in it.
    public var nobody: String
    /// All members of a group, to be mentioned.
    public var everyone: String
    /// An image, for VoiceOver.
    public var image: String
    /// In the place of an image that cannot be shown.
    public var noImage: String
    /// Says what a tap on an image does.
    public var opensImage: String
    /// In the place of a quoted message that was recalled.
    public var quoteGone: String
    /// Earlier messages are on their way.
    public var loading: String
    /// A conversation without messages.
    public var empty: String
    /// On a screen whose person has signed out.
    public var signedOut: String
    /// In the place of the field where only owner and admins write.
    public var onlyAdminsWrite: String
    /// In the place of the field where nobody can write any more.
    public var dissolved: String
    /// The person may not write.
    public var muted: String
    /// The other person accepts no messages of this one.
    public var blocked: String
    /// The person is no member.
    public var notAMember: String
    /// The person may not do that.
    public var notAllowed: String
    /// The time to recall or edit is over.
    public var tooLate: String
    /// The message or conversation is not there any more.
    public var gone: String
    /// A text that no server takes.
    public var tooLong: String
    /// Something that needs a connection.
    public var noConnection: String
    /// A file that the server does not take.
    public var fileRefused: String
    /// Something that did not work.
    public var failed: String
}

extension ChatWords {
    /// English.
    public static let english = ChatWords(
        message: "Message", send: "Send", more: "More", photo: "Photo", cancel: "Cancel", close: "Close",
        confirm: "OK", settings: "Settings", today: "Today", yesterday: "Yesterday", you: "You", sending: "Sending",
        waiting: "Waiting for a connection", uploading: "{percent}% sent", sent: "Sent", delivered: "Delivered",
        read: "Read", readBy: "Read by {count} of {total}", notSent: "Not sent", retry: "Try Again",
        edited: "Edited", recalledByYou: "You recalled a message", recalledBy: "{name} recalled a message",
        editAgain: "Edit Again", unreadHere: "New messages", unreadAbove: "{count} unread", newBelow: "{count} new",
        typing: "{name} is typing…", severalTyping: "{count} people are typing…", reply: "Reply",
        replyTo: "Reply to {name}", copy: "Copy", edit: "Edit", editing: "Edit message", recall: "Recall",
        delete: "Delete", deleteQuestion: "Delete this message on all your devices?", readers: "Read By…",
        nobody: "Nobody yet", everyone: "Everyone", image: "Image", noImage: "The image cannot be shown",
        opensImage: "Shows the image", quoteGone: "This message was recalled", loading: "Loading earlier messages",
        empty: "No messages yet", signedOut: "You are signed out", onlyAdminsWrite: "Only admins may write here",
        dissolved: "Nobody can write here any more", muted: "You may not write here",
        blocked: "The other person does not accept your messages", notAMember: "You are not a member here",
        notAllowed: "You may not do that", tooLate: "It is too late for that", gone: "It is not there any more",
        tooLong: "The text is too long", noConnection: "There is no connection",
        fileRefused: "The file was not accepted", failed: "That did not work. Try again")

    /// Simplified Chinese.
    public static let simplifiedChinese = ChatWords(
        message: "消息", send: "发送", more: "更多", photo: "照片", cancel: "取消", close: "关闭", confirm: "好", settings: "设置",
        today: "今天", yesterday: "昨天", you: "你", sending: "发送中", waiting: "等待连接", uploading: "已发送 {percent}%",
        sent: "已发送", delivered: "已送达", read: "已读", readBy: "{count}/{total} 人已读", notSent: "未发送", retry: "重试",
        edited: "已编辑", recalledByYou: "你撤回了一条消息", recalledBy: "{name} 撤回了一条消息", editAgain: "重新编辑",
        unreadHere: "以下是新消息", unreadAbove: "{count} 条未读消息", newBelow: "{count} 条新消息", typing: "{name} 正在输入…",
        severalTyping: "{count} 人正在输入…", reply: "回复", replyTo: "回复 {name}", copy: "复制", edit: "编辑", editing: "编辑消息",
        recall: "撤回", delete: "删除", deleteQuestion: "要在你的所有设备上删除这条消息吗？", readers: "已读成员", nobody: "暂无",
        everyone: "所有人", image: "图片", noImage: "图片无法显示", opensImage: "查看图片", quoteGone: "该消息已被撤回",
        loading: "正在加载更早的消息", empty: "暂无消息", signedOut: "你已退出登录", onlyAdminsWrite: "仅管理员可以发言", dissolved: "该会话已解散",
        muted: "你已被禁言", blocked: "对方拒收你的消息", notAMember: "你不在该会话中", notAllowed: "你没有权限进行此操作", tooLate: "已超过可操作的时间",
        gone: "内容已不存在", tooLong: "内容过长", noConnection: "当前没有网络连接", fileRefused: "文件未被接受", failed: "操作失败，请重试")
}
