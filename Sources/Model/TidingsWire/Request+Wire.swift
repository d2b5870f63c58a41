import SwiftProtobuf
import TidingsModel

extension WireRequest {
    init(_ number: RequestNumber, _ request: ClientRequest) {
        self.init()
        self.number = number
        switch request {
        case .change(let conversation, let action):
            self.change = .with {
                $0.conversation = WireConversation(conversation)
                $0.action = WireAction(action)
            }
        case .recall(let message): self.recall = .with { $0.message = message.description }
        case .edit(let message, let content):
            self.edit = .with {
                $0.message = message.description
                $0.content = content
            }
        case .delete(let deletion): self.delete = WireDeletion(deletion)
        case .setConversationSettings(let conversation, let settings):
            self.setConversationSettings = WireConversationSettings(conversation, settings)
        case .setConversationState(let conversation, let change):
            self.setConversationState = WireConversationState(conversation, change)
        case .setPersonSettings(let settings): self.setPersonSettings = WirePersonSettings(settings)
        case .setBlocked(let user, let isBlocked): self.setBlocked = WireBlocked(user, isBlocked)
        case .conversation(let id): self.conversation = .with { $0.conversation = WireConversation(id) }
        case .settings: self.settings = WireReadSettings()
        case .history(let conversation, let before, let limit):
            self.history = .with {
                $0.conversation = WireConversation(conversation)
                if let before { $0.before = before.description }
                $0.limit = limit
            }
        case .enterRoom(let room, let history):
            self.enterRoom = .with {
                $0.conversation = WireConversation(room)
                $0.history = history
            }
        case .exitRoom(let room): self.exitRoom = .with { $0.conversation = WireConversation(room) }
        case .receipts(let message): self.receipts = .with { $0.message = message.description }
        case .watch(let users): self.watch = .with { $0.users = users.map(\.rawValue) }
        case .unwatch(let users): self.unwatch = .with { $0.users = users.map(\.rawValue) }
        case .renewToken(let token): self.renewToken = .with { $0.token = token }
        case .setProfile(let profile): self.setProfile = WireProfile(profile)
        case .profiles(let users): self.profiles = .with { $0.users = users.map(\.rawValue) }
        case .registerVoIP(let registration): self.registerVoip = WireRegisterPush(registration)
        case .devices: self.devices = WireReadDevices()
        case .signOutDevice(let device): self.signOutDevice = .with { $0.device = device.rawValue }
        case .setFollowing(let account, let isFollowing):
            self.setFollowing = .with {
                $0.account = WireConversation(account)
                $0.isFollowing = isFollowing
            }
        case .following: self.following = WireReadFollowing()
        case .setTags(let tags): self.setTags = .with { $0.tags = tags }
        }
    }

    /// A fault refuses this request alone; the session goes on.
    func model() throws(FrameError) -> ClientRequest {
        try numbered(self.number) { () throws(FrameError) in
            guard self.number > 0 else {
                throw .broken("request.number", "must be at least 1")
            }
            guard let request = try self.content() else {
                throw .broken("request", "must be one that protocol version 1 of this server knows")
            }
            try checked { () throws(InvalidField) in try request.validate() }
            return request
        }
    }

    private func content() throws(FrameError) -> ClientRequest? {
        switch self.request {
        case nil: return nil
        case .change(let change):
            guard let action = try change.action.model() else {
                throw .broken("action", "must be one that protocol version 1 of this server knows")
            }
            return .change(try change.conversation.model(field: "conversation"), action)
        case .recall(let recall): return .recall(try messageID(recall.message, field: "message"))
        case .edit(let edit): return .edit(try messageID(edit.message, field: "message"), content: edit.content)
        case .delete(let deletion): return .delete(try deletion.model())
        case .setConversationSettings(let settings):
            let (conversation, own) = try settings.model()
            return .setConversationSettings(conversation, own)
        case .setConversationState(let state):
            let (conversation, change) = try state.model()
            return .setConversationState(conversation, change)
        case .setPersonSettings(let settings): return .setPersonSettings(try settings.model())
        case .setBlocked(let blocked): return .setBlocked(UserID(blocked.user), blocked.isBlocked)
        case .conversation(let read): return .conversation(try read.conversation.model(field: "conversation"))
        case .settings: return .settings
        case .history(let read):
            let before = read.hasBefore ? try messageID(read.before, field: "before") : nil
            return .history(try read.conversation.model(field: "conversation"), before: before, limit: read.limit)
        case .enterRoom(let room):
            return .enterRoom(try room.conversation.model(field: "conversation"), history: room.history)
        case .exitRoom(let room): return .exitRoom(try room.conversation.model(field: "conversation"))
        case .receipts(let read): return .receipts(try messageID(read.message, field: "message"))
        case .watch(let people): return .watch(people.users.map { UserID($0) })
        case .unwatch(let people): return .unwatch(people.users.map { UserID($0) })
        case .renewToken(let renewal): return .renewToken(renewal.token)
        case .setProfile(let profile): return .setProfile(profile.model)
        case .profiles(let people): return .profiles(people.users.map { UserID($0) })
        case .registerVoip(let registration): return .registerVoIP(try registration.registration())
        case .devices: return .devices
        case .signOutDevice(let request): return .signOutDevice(DeviceID(request.device))
        case .setFollowing(let following):
            return .setFollowing(try following.account.model(field: "account"), following.isFollowing)
        case .following: return .following
        case .setTags(let list): return .setTags(list.tags)
        }
    }
}

extension WireDeletion {
    init(_ deletion: Deletion) {
        self.init()
        self.conversation = WireConversation(deletion.conversation)
        self.messages = deletion.messages.map(\.description)
    }

    func model() throws(FrameError) -> Deletion {
        var ids: Set<MessageID> = []
        for message in self.messages { ids.insert(try messageID(message, field: "messages")) }
        return Deletion(conversation: try self.conversation.model(field: "conversation"), messages: ids.sorted())
    }
}

extension WireBlocked {
    init(_ user: UserID, _ isBlocked: Bool) {
        self.init()
        self.user = user.rawValue
        self.isBlocked = isBlocked
    }
}
