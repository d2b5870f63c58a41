import OrderedCollections
import StoreModel
import TidingsModel

// Typing is sent to people in the foreground, and never stored.
extension ServerCore {
    mutating func handleTyping(
        in conversation: ConversationID, _ isTyping: Bool, from session: SessionID, _ known: Session
    ) {
        let user = known.device.user
        guard (try? UserID.validated(conversation.target, field: "conversation.target")) != nil,
            AnonymousRules.mayType(in: conversation, user.user),
            self.isNews(isTyping, in: conversation, from: session)
        else { return }
        switch conversation.type {
        case .direct:
            self.sendTyping(isTyping, of: user, in: conversation, nil)
        case .group, .discussion:
            self.readHearers(
                .readConversation(user.app, conversation, asked: user.user, at: self.turn.now.wall), conversation,
                isTyping, session, known)
        case .customerService, .appPublicService, .publicService:
            self.readHearers(.mayWrite(user, conversation), conversation, isTyping, session, known)
        case .chatRoom, .system, .pushService: break
        }
    }

    /// The store knows the members and the accounts. One question at a time: what comes meanwhile is lost.
    private mutating func readHearers(
        _ question: StoreCommand, _ conversation: ConversationID, _ isTyping: Bool, _ session: SessionID,
        _ known: Session
    ) {
        let user = known.device.user
        guard !known.isTypingAsked, (try? self.turn.checkBacklog(of: .person(user))) != nil else { return }
        self.turn.sessions[session]?.isTypingAsked = true
        self.turn.ask(question, for: .typing(conversation, user, isTyping: isTyping, session), by: .person(user))
    }

    /// Typing is passed on once in a while, and stopping once after that.
    private mutating func isNews(_ isTyping: Bool, in conversation: ConversationID, from session: SessionID) -> Bool {
        let now = self.turn.now
        let last = self.turn.sessions[session]?.typed[conversation]
        if isTyping {
            guard last.map({ now.monotonic >= $0.at + self.turn.settings.typingInterval }) ?? true else { return false }
            self.turn.sessions[session]?.recordTyping(Typed(at: now.monotonic, isTyping: true), in: conversation)
            return true
        }
        // Typing may have begun on another connection.
        guard last.map({ $0.isTyping || now.monotonic >= $0.at + self.turn.settings.typingInterval }) ?? true else {
            return false
        }
        let at = last?.isTyping == true ? last?.at ?? now.monotonic : now.monotonic
        self.turn.sessions[session]?.recordTyping(Typed(at: at, isTyping: false), in: conversation)
        return true
    }

    /// Only to people in the foreground; never to the one who types, nor to people who have blocked them. `info` is nil where the target is
    /// a person or an account.
    mutating func sendTyping(
        _ isTyping: Bool, of user: UserKey, in conversation: ConversationID, _ info: ConversationInfo?
    ) {
        guard info?.mayWrite(user.user, at: self.turn.now.wall) != false else { return }
        let before = self.turn.effects.count
        defer { self.countDeliveries(self.turn.effects.count - before, by: user, in: user.app) }
        let seen = info != nil ? conversation : ConversationID(type: conversation.type, target: user.user.rawValue)
        let people = info?.members.map(\.id) ?? [UserID(conversation.target)]
        for other in people where other != user.user {
            guard let slot = self.slots[UserKey(app: user.app, user: other)],
                !self.people[slot].state.settings.blocked.contains(user.user)
            else { continue }
            for device in self.people[slot].devices where device.lease == .foreground {
                guard let session = device.session else { continue }
                self.turn.emit(.write(session, .signal(.typing(seen, user.user, isTyping: isTyping))))
            }
        }
    }
}

struct Typed: Hashable, Sendable {
    var at: Int64
    var isTyping: Bool
}

extension Session {
    private static let typedMax = 64

    mutating func recordTyping(_ typed: Typed, in conversation: ConversationID) {
        if self.typed[conversation] == nil, self.typed.count >= Self.typedMax { self.typed.removeFirst() }
        self.typed[conversation] = typed
    }
}
