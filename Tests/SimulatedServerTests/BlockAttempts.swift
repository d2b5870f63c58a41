import ServerCore
import StoreModel
import TidingsModel

// Everything Mallory can do to reach Alice: each frame of a client, each request, each change of a conversation and each command of the
// API, in each kind of conversation. The switches name every case, so that a new one does not compile without a kind, and the test asks
// for an attempt of every kind.

enum FrameKind: CaseIterable {
    case hello, send, ack, runState, registerPush, sync, markRead, ping, signOut, deviceStatus, opened, request, typing

    init(_ frame: ClientFrame) {
        switch frame {
        case .hello: self = .hello
        case .send: self = .send
        case .ack: self = .ack
        case .runState: self = .runState
        case .registerPush: self = .registerPush
        case .sync: self = .sync
        case .markRead: self = .markRead
        case .ping: self = .ping
        case .signOut: self = .signOut
        case .deviceStatus: self = .deviceStatus
        case .opened: self = .opened
        case .request: self = .request
        case .typing: self = .typing
        }
    }
}

enum RequestKind: CaseIterable {
    case change, recall, edit, delete, setConversationSettings, setPersonSettings, setBlocked, conversation, settings
    case history, enterRoom, exitRoom, receipts, watch, unwatch, renewToken, setProfile, profiles, setFollowing
    case registerVoIP, devices, signOutDevice, setConversationState, following, setTags

    init(_ request: ClientRequest) {
        switch request {
        case .change: self = .change
        case .recall: self = .recall
        case .edit: self = .edit
        case .delete: self = .delete
        case .setConversationSettings: self = .setConversationSettings
        case .setPersonSettings: self = .setPersonSettings
        case .setBlocked: self = .setBlocked
        case .conversation: self = .conversation
        case .settings: self = .settings
        case .history: self = .history
        case .enterRoom: self = .enterRoom
        case .exitRoom: self = .exitRoom
        case .receipts: self = .receipts
        case .watch: self = .watch
        case .unwatch: self = .unwatch
        case .renewToken: self = .renewToken
        case .setProfile: self = .setProfile
        case .profiles: self = .profiles
        case .setFollowing: self = .setFollowing
        case .following: self = .following
        case .setTags: self = .setTags
        case .registerVoIP: self = .registerVoIP
        case .devices: self = .devices
        case .signOutDevice: self = .signOutDevice
        case .setConversationState: self = .setConversationState
        }
    }
}

enum ActionKind: CaseIterable {
    case create, add, join, remove, leave, rename, setPortrait, setRole, setNickname, dissolve, ban, unban
    case mute, unmute, setOnlyAdminsWrite, invite, decline, withdraw

    init(_ action: ConversationAction) {
        switch action {
        case .create: self = .create
        case .add: self = .add
        case .join: self = .join
        case .remove: self = .remove
        case .leave: self = .leave
        case .rename: self = .rename
        case .setPortrait: self = .setPortrait
        case .setRole: self = .setRole
        case .setNickname: self = .setNickname
        case .dissolve: self = .dissolve
        case .ban: self = .ban
        case .unban: self = .unban
        case .mute: self = .mute
        case .unmute: self = .unmute
        case .setOnlyAdminsWrite: self = .setOnlyAdminsWrite
        case .invite: self = .invite
        case .decline: self = .decline
        case .withdraw: self = .withdraw
        }
    }
}

enum CommandKind: CaseIterable {
    case send, putConversation, request, sendCustom, setObjectNames, setAccount, putAccount, setProfiles
    case trace, legs, openLegs, signOut, signOutAll, devices, changeAccount, issueToken, installation
    case registerInstallations, once
    case quotas, media, fromExtension, ring, call, markRead, changeControl, pushLanes, previewPush
    case createPush, changePush, countAudience, setLabels
    case pushActivity, activityPush, channels, testPush, silentPush

    init(_ command: APICommand) {
        switch command {
        case .send: self = .send
        case .putConversation: self = .putConversation
        case .request: self = .request
        case .sendCustom: self = .sendCustom
        case .setObjectNames: self = .setObjectNames
        case .setAccount: self = .setAccount
        case .putAccount: self = .putAccount
        case .setProfiles: self = .setProfiles
        case .trace: self = .trace
        case .legs: self = .legs
        case .openLegs: self = .openLegs
        case .signOut: self = .signOut
        case .signOutAll: self = .signOutAll
        case .devices: self = .devices
        case .changeAccount: self = .changeAccount
        case .issueToken: self = .issueToken
        case .installation: self = .installation
        case .registerInstallations: self = .registerInstallations
        case .once: self = .once
        case .quotas: self = .quotas
        case .media: self = .media
        case .fromExtension: self = .fromExtension
        case .ring: self = .ring
        case .call: self = .call
        case .markRead: self = .markRead
        case .pushLanes: self = .pushLanes
        case .previewPush: self = .previewPush
        case .changeControl: self = .changeControl
        case .createPush: self = .createPush
        case .changePush: self = .changePush
        case .countAudience: self = .countAudience
        case .setLabels: self = .setLabels
        case .pushActivity: self = .pushActivity
        case .activityPush: self = .activityPush
        case .channels: self = .channels
        case .testPush: self = .testPush
        case .silentPush: self = .silentPush
        }
    }

    /// In nobody's name, and about nobody's messages: no way of Mallory's to anybody.
    static let ofTheBackendAlone: Set<CommandKind> = [
        .sendCustom, .setObjectNames, .setAccount, .putAccount, .quotas, .legs, .openLegs, .changeControl,
        .pushActivity, .activityPush, .channels, .testPush, .silentPush, .createPush, .changePush, .countAudience,
        .setLabels, .installation, .registerInstallations, .pushLanes, .previewPush,
    ]
}

enum Attempt: Sendable {
    case frame(ClientFrame)
    case command(APICommand)

    var request: ClientRequest? {
        switch self {
        case .frame(.request(_, let request)), .command(.request(_, _, let request)): request
        case .frame, .command: nil
        }
    }

    var action: ConversationAction? { if case .change(_, let action)? = self.request { action } else { nil } }

    /// In one conversation, as Mallory sees it. `old` is a message of theirs there from before the block.
    static func all(in place: ConversationID, old: MessageID) -> [Attempt] {
        let requests = Self.requests(in: place, old: old)
        let app = BlockBench.app
        let mallory = UserKey(app: app, user: "mallory")
        let phone = DeviceKey(user: mallory, device: "phone")
        var frames: [ClientFrame] = [
            .hello(BlockBench.hello("mallory", device: "pad")),
            .ack(.init(stored: 1, settled: [.init(upTo: 1, disposition: .shown)])),
            .runState(.background(remainingMilliseconds: 20_000)), .registerPush(nil), .sync(after: 0, limit: 10),
            .markRead(place, upTo: 1), .ping(1), .signOut, .deviceStatus(BlockBench.status), .opened(old),
            .typing(place, isTyping: true), .typing(place, isTyping: false),
        ]
        frames += Self.drafts(in: place).map { .send($0) }
        frames += requests.enumerated().map { .request(RequestNumber(100 + $0.offset), $0.element) }
        var commands: [APICommand] = [
            .markRead(mallory, place, upTo: nil), .markRead(mallory, place, upTo: old),
            .setProfiles(app, [UserProfile("mallory", Profile(name: "Alice"))]), .trace(app, old), .signOut(phone),
            .signOutAll(mallory), .devices(mallory), .changeAccount(mallory, .ban()), .issueToken(mallory),
            .ring(app, Call(id: BlockBench.call, caller: "mallory", callee: "alice")), .call(app, BlockBench.call),
            .media(mallory, tokenIssuedAt: nil, .read(MediaID(String(repeating: "0", count: 32)), in: old)),
            .fromExtension(
                phone, tokenIssuedAt: BlockBench.start.wall, .receipt(old, .opened)),
            .fromExtension(phone, tokenIssuedAt: BlockBench.start.wall, .missed(after: 0, limit: 9)),
            .putConversation(
                ConversationRecord(
                    app: app, conversation: ConversationID(type: .group, target: "new"), name: "New",
                    members: ["alice", "mallory"])),
        ]
        commands += Self.drafts(in: place).map { .send(mallory, $0) }
        commands += Self.drafts(in: place).enumerated().map { index, draft in
            .once(
                IdempotencyKey(app: app, apiKey: "k", text: "\(index)"), fingerprint: [UInt8(index)],
                .send(mallory, draft))
        }
        commands += requests.map { .request(app, actor: "mallory", $0) }
        return frames.map { .frame($0) } + commands.map { .command($0) }
    }

    /// Loud and quiet ones, to all and to Alice alone.
    private static func drafts(in place: ConversationID) -> [MessageDraft] {
        var drafts: [MessageDraft] = []
        func add(_ change: (inout MessageDraft) -> Void) {
            var draft = MessageDraft(
                clientMessageID: ClientMessageID("attempt-\(drafts.count)"), conversation: place, objectName: .text,
                content: #"{"content":"hey"}"#)
            change(&draft)
            drafts.append(draft)
        }
        add { _ in }
        add { $0.pushText = "hey!" }
        add { $0.lifetimeMilliseconds = 60_000 }
        add { $0.flags = .command }
        add { $0.flags = [.stored, .counted] }
        add { $0.flags = [.stored, .notified] }
        guard !place.type.targetIsPeer else { return drafts }
        add { $0.mentions = .everyone }
        add { $0.mentions = .users(["alice"]) }
        add { $0.content = #"{"content":"hey","mentionedInfo":{"type":1}}"# }
        guard place.type != .chatRoom else { return drafts }
        add {
            $0.recipients = ["alice"]
            $0.mentions = .users(["alice"])
        }
        return drafts
    }

    private static func requests(in place: ConversationID, old: MessageID) -> [ClientRequest] {
        let muted = ConversationSettings(level: .blocked)
        var requests: [ClientRequest] = [
            .recall(old), .edit(old, content: #"{"content":"hey @alice"}"#),
            .delete(Deletion(conversation: place, messages: [old])), .setConversationSettings(place, muted),
            .setPersonSettings(PersonSettings(hidesContent: true)), .setBlocked("alice", true),
            .setBlocked("alice", false), .conversation(place), .settings, .history(place, before: nil, limit: 5),
            .enterRoom(place, history: 5), .exitRoom(place), .receipts(old), .watch(["alice"]), .unwatch(["alice"]),
            .renewToken("mallory"), .setProfile(Profile(name: "Alice")), .profiles(["alice"]),
            .setFollowing(ConversationID(type: .publicService, target: "alice"), true), .following,
            .setTags(["alice"]), .registerVoIP(nil), .devices, .signOutDevice("phone"), .signOutDevice("pad"),
            .setConversationState(place, .pinned(true)), .setConversationState(place, .archived(true)),
            .setConversationState(place, .hidden(upTo: old)), .setConversationState(place, .draft("hey")),
        ]
        for type in [ConversationType.group, .discussion, .chatRoom] {
            let new = ConversationID(type: type, target: "new")
            requests.append(.change(new, .create(name: "New", portrait: nil, members: ["alice", "carol"])))
        }
        requests += Self.actions.map { .change(place, $0) }
        return requests
    }

    private static let actions: [ConversationAction] = [
        .create(name: "New", portrait: nil, members: ["alice"]), .add(["alice"]), .add(["alice", "dave"]), .join,
        .remove(["alice"]), .leave, .rename("Hey Alice"), .setPortrait("https://files.example.com/hey.png"),
        .setRole("alice", .admin), .setNickname("alice", "Hey"), .setNickname("mallory", "Alice"), .dissolve,
        .ban(["alice"], until: nil), .unban(["alice"]), .mute(["alice"], until: nil), .unmute(["alice"]),
        .setOnlyAdminsWrite(true), .setOnlyAdminsWrite(false), .invite(["alice"], name: "Hey Alice", portrait: nil),
        .decline, .withdraw(["alice"]),
    ]
}
