import SwiftProtobuf
import TidingsModel

extension WireAnswer {
    init(_ number: RequestNumber, _ answer: ClientAnswer) {
        self.init()
        self.number = number
        switch answer {
        case .done(let position): self.done = .with { $0.position = position }
        case .refused(let problem): self.refused = WireProblem(problem, isFatal: false)
        case .conversation(let info): self.conversation = WireConversationInfo(info)
        case .settings(let settings): self.settings = WireSettings(settings)
        case .history(let messages, let hasMore):
            self.history = .with {
                $0.messages = messages.map(WireMessage.init)
                $0.hasMore_p = hasMore
            }
        }
    }

    func model() throws(FrameError) -> ClientAnswer {
        switch self.answer {
        case nil:
            // Nobody else can tell whoever waits for it.
            return .refused(
                ServerFrame.Problem(
                    code: .unsupportedVersion, field: "answer", rule: "is of a kind that this build does not know"))
        case .done(let done): return .done(done.position)
        case .refused(let problem): return .refused(problem.model())
        case .conversation(let info): return .conversation(try info.model())
        case .settings(let settings): return .settings(try settings.model())
        case .history(let history):
            var messages: [TidingsModel.Message] = []
            messages.reserveCapacity(history.messages.count)
            for message in history.messages { messages.append(try message.model()) }
            return .history(messages, hasMore: history.hasMore_p)
        }
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
            }
        }
        self.isDissolved = info.isDissolved
    }

    fileprivate func model() throws(FrameError) -> ConversationInfo {
        var members: [Member] = []
        members.reserveCapacity(self.members.count)
        for member in self.members {
            members.append(
                Member(
                    UserID(member.user), role: try known(member.role, field: "members.role"),
                    nickname: member.hasNickname ? member.nickname : nil))
        }
        return ConversationInfo(
            id: try self.conversation.model(field: "conversation"), version: self.version, name: self.name,
            portrait: self.hasPortrait ? self.portrait : nil, members: members, isDissolved: self.isDissolved)
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
        }
    }

    func model() throws(FrameError) -> Signal {
        switch self.signal {
        // Like a frame that is not known: nothing depends on a signal.
        case nil: throw .empty
        case .typing(let typing):
            return .typing(
                try typing.conversation.model(field: "conversation"), UserID(typing.user), isTyping: typing.isTyping)
        case .room(let message): return .room(try message.model())
        }
    }
}
