import StoreModel
import TidingsModel

// Typing is of interest now and never again: it is told to whoever is in front just now, and lost otherwise without a word.
extension ServerCore {
    /// A person is typing, or no longer.
    mutating func typing(
        in conversation: ConversationID, _ isTyping: Bool, from session: SessionID, _ known: Session,
        _ effects: inout [ServerEffect]
    ) {
        let user = known.device.user
        guard (try? UserID.validated(conversation.target, field: "conversation.target")) != nil else { return }
        switch conversation.type {
        case .direct:
            let seen = ConversationID(type: conversation.type, target: user.user.rawValue)
            self.tellTyping(isTyping, of: user, in: seen, to: [UserID(conversation.target)], &effects)
        case .group, .discussion:
            self.askWhoHears(
                .readConversation(user.app, conversation, asked: user.user), conversation, isTyping, session, known,
                &effects)
        case .customerService, .appPublicService, .publicService:
            self.askWhoHears(.mayWrite(user, conversation), conversation, isTyping, session, known, &effects)
        case .chatRoom, .system, .pushService: break
        }
    }

    /// The store knows the members, and the accounts. One question at a time: what comes meanwhile is lost.
    private mutating func askWhoHears(
        _ question: StoreCommand, _ conversation: ConversationID, _ isTyping: Bool, _ session: SessionID,
        _ known: Session, _ effects: inout [ServerEffect]
    ) {
        guard !known.isTypingAsked, self.storeBacklog < self.settings.storeBacklogMax else { return }
        self.sessions[session]?.isTypingAsked = true
        let errand = Errand.typing(conversation, known.device.user, isTyping: isTyping, session)
        self.ask(question, for: .errand(errand), &effects)
    }

    /// Tells those of some people who are in front; never the one who types, nor who has blocked them.
    func tellTyping(
        _ isTyping: Bool, of user: UserKey, in conversation: ConversationID, to people: [UserID],
        _ effects: inout [ServerEffect]
    ) {
        for other in people where other != user.user {
            guard let slot = self.slots[UserKey(app: user.app, user: other)],
                !self.people[slot].settings.blocked.contains(user.user)
            else { continue }
            for device in self.people[slot].devices where device.lease == .foreground {
                guard let session = device.session else { continue }
                effects.append(.write(session, .signal(.typing(conversation, user.user, isTyping: isTyping))))
            }
        }
    }
}
