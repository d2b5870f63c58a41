import SwiftProtobuf
import TidingsModel

extension WireAnswer {
    init(_ number: RequestNumber, _ answer: ClientAnswer) {
        self.init()
        self.number = number
        switch answer {
        case .done(let position): self.done = .with { $0.position = position }
        case .invited(let users, let position):
            self.done = .with {
                $0.position = position
                $0.invited = users.map(\.rawValue)
            }
        case .refused(let problem): self.refused = WireProblem(problem, isFatal: false)
        case .conversation(let info): self.conversation = WireConversationInfo(info)
        case .settings(let settings): self.settings = WireSettings(settings)
        case .history(let messages, let hasMore):
            self.history = .with {
                $0.messages = messages.map(WireMessage.init)
                $0.hasMore_p = hasMore
            }
        case .receipts(let receipts):
            self.receipts = .with {
                $0.message = receipts.id.description
                $0.recipients = UInt32(clamping: receipts.recipients)
                $0.delivered = receipts.delivered.map(\.rawValue)
                $0.read = receipts.read.map(\.rawValue)
            }
        case .presence(let people): self.presence = .with { $0.people = people.map(WirePresence.init) }
        case .profiles(let people):
            self.profiles = .with {
                $0.people = people.map { person in
                    .with {
                        $0.user = person.id.rawValue
                        $0.profile = WireProfile(person.profile)
                    }
                }
            }
        case .devices(let devices): self.devices = .with { $0.devices = devices.map(WireOwnDevice.init) }
        case .following(let accounts): self.following = .with { $0.accounts = accounts.map(WireConversation.init) }
        case .tags(let tags): self.tags = .with { $0.tags = tags }
        }
    }

    func model() throws(FrameError) -> ClientAnswer {
        switch self.answer {
        case nil:
            // The request waits for an answer, so it gets a refusal.
            return .refused(
                ServerFrame.Problem(
                    code: .unsupportedVersion, field: "answer", rule: "is of a kind that this build does not know"))
        case .done(let done):
            return done.invited.isEmpty ? .done(done.position) : .invited(sortedUsers(done.invited), done.position)
        case .refused(let problem): return .refused(problem.model())
        case .conversation(let info): return .conversation(try info.model())
        case .settings(let settings): return .settings(try settings.model())
        case .history(let history):
            let messages = try history.messages.map { (message) throws(FrameError) in try message.model() }
            return .history(messages, hasMore: history.hasMore_p)
        case .receipts(let receipts):
            return .receipts(
                MessageReceipts(
                    id: try messageID(receipts.message, field: "message"), recipients: Int(receipts.recipients),
                    delivered: receipts.delivered.map { UserID($0) }, read: receipts.read.map { UserID($0) }))
        case .presence(let list): return .presence(list.people.map { $0.model() })
        case .profiles(let list):
            return .profiles(list.people.map { UserProfile(UserID($0.user), $0.profile.model) })
        case .devices(let list):
            return .devices(try list.devices.map { (device) throws(FrameError) in try device.device() })
        case .tags(let list): return .tags(list.tags)
        case .following(let list):
            return .following(
                try list.accounts.map { (account) throws(FrameError) in try account.model(field: "following.accounts") }
            )
        }
    }
}

extension WireOwnDevice {
    fileprivate init(_ device: OwnDevice) {
        self.init()
        self.id = device.id.rawValue
        self.platform = device.platform
        self.isCurrent = device.isCurrent
        if let at = device.lastSeenAt { self.lastSeenAt = at }
        self.connectedAt = device.connectedAt
        self.push = device.push.rawValue
        self.appVersion = device.appVersion ?? ""
        self.systemVersion = device.systemVersion ?? ""
        self.model = device.model ?? ""
    }

    fileprivate func device() throws(FrameError) -> OwnDevice {
        OwnDevice(
            id: DeviceID(self.id), platform: self.platform, isCurrent: self.isCurrent,
            lastSeenAt: self.hasLastSeenAt ? self.lastSeenAt : nil, connectedAt: self.connectedAt,
            push: try known(self.push, field: "devices.push"),
            appVersion: self.appVersion.isEmpty ? nil : self.appVersion,
            systemVersion: self.systemVersion.isEmpty ? nil : self.systemVersion,
            model: self.model.isEmpty ? nil : self.model)
    }
}

extension WireProfile {
    init(_ profile: Profile) {
        self.init()
        if let name = profile.name { self.name = name }
        if let portrait = profile.portrait { self.portrait = portrait }
    }

    var model: Profile {
        Profile(name: self.hasName ? self.name : nil, portrait: self.hasPortrait ? self.portrait : nil)
    }
}

extension WireConversationInfo {
    fileprivate init(_ info: ConversationInfo) {
        self.init()
        self.conversation = WireConversation(info.id)
        self.version = info.version
        self.name = info.name
        if let portrait = info.portrait { self.portrait = portrait }
        self.members = info.members.map { member in
            .with {
                $0.user = member.id.rawValue
                $0.role = member.role.rawValue
                if let nickname = member.nickname { $0.nickname = nickname }
                if let mute = member.mute { $0.mute = .with { if let until = mute.until { $0.until = until } } }
            }
        }
        self.isDissolved = info.isDissolved
        self.onlyAdminsWrite = info.onlyAdminsWrite
    }

    fileprivate func model() throws(FrameError) -> ConversationInfo {
        let members = try self.members.map { (member) throws(FrameError) in
            Member(
                UserID(member.user), role: try known(member.role, field: "members.role"),
                nickname: member.hasNickname ? member.nickname : nil,
                mute: member.hasMute ? Mute(until: member.mute.hasUntil ? member.mute.until : nil) : nil)
        }
        return ConversationInfo(
            id: try self.conversation.model(field: "conversation"), version: self.version, name: self.name,
            portrait: self.hasPortrait ? self.portrait : nil, members: members, isDissolved: self.isDissolved,
            onlyAdminsWrite: self.onlyAdminsWrite)
    }
}

extension WireSignal {
    init(_ signal: Signal) {
        self.init()
        switch signal {
        case .typing(let conversation, let user, let isTyping):
            self.typing = .with {
                $0.conversation = WireConversation(conversation)
                $0.user = user.rawValue
                $0.isTyping = isTyping
            }
        case .room(let message): self.room = WireMessage(message)
        case .presence(let presence): self.presence = WirePresence(presence)
        case .receipt(let conversation, let user, let kind, let message):
            self.receipt = .with {
                $0.conversation = WireConversation(conversation)
                $0.user = user.rawValue
                $0.kind = kind.rawValue
                $0.upTo = message.description
            }
        }
    }

    func model() throws(FrameError) -> Signal {
        switch self.signal {
        // Nothing depends on a signal: like an unknown frame.
        case nil: throw .empty
        case .typing(let typing):
            return .typing(
                try typing.conversation.model(field: "conversation"), UserID(typing.user), isTyping: typing.isTyping)
        case .room(let message): return .room(try message.model())
        case .presence(let presence): return .presence(presence.model())
        case .receipt(let receipt):
            return .receipt(
                try receipt.conversation.model(field: "conversation"), UserID(receipt.user),
                try known(receipt.kind, field: "kind"), upTo: try messageID(receipt.upTo, field: "up_to"))
        }
    }
}

extension WirePresence {
    fileprivate init(_ presence: Presence) {
        self.init()
        self.user = presence.id.rawValue
        self.isOnline = presence.isOnline
        if let at = presence.lastSeenAt { self.lastSeenAt = at }
    }

    fileprivate func model() -> Presence {
        Presence(id: UserID(self.user), isOnline: self.isOnline, lastSeenAt: self.hasLastSeenAt ? self.lastSeenAt : nil)
    }
}
