import StoreModel
import TidingsModel

/// What the answer to a store command is for that is neither about a message nor about signing in.
enum Errand: Sendable {
    case request(Asked)
    case enterRoom(Asked, ConversationID, history: Int)
    case custom(APIRequestID, CustomOperation)
    /// The backend has put a conversation.
    case put(APIRequestID, ConversationRecord)
    /// A device's push state, and who asked for it.
    case pushState(DeviceKey, Registrant?)
    /// Who hears that somebody is typing.
    case typing(ConversationID, UserKey, isTyping: Bool, SessionID)
    /// Which devices have shown a message that was recalled, at this position of the person's log, and whether it was unread until
    /// then, and counted.
    case shown(UserKey, Recall, LogPosition, wasUnread: Bool)
    /// At which message the read cursor of somebody who is watched stands now.
    case readReceipt(UserKey, ConversationID)
    /// A newer device has taken this one's place, or it was not seen for long.
    case kick(DeviceKey)
    /// A session tells of an opened notification.
    case opened(SessionID)
    /// The app's backend has decided something about a person.
    case userAccount(APIRequestID, UserKey, AccountChange)
}

extension ServerCore {
    /// Uses the store's answer to an errand.
    mutating func use(
        _ result: StoreResult, for errand: Errand, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch (errand, result) {
        case (.request(let asked), let answer):
            guard !self.finish(asked, answer, now, &effects) else { return }
        case (.custom(let request, let operation), let answer):
            guard !self.finish(request, operation, answer, now, &effects) else { return }
        case (.enterRoom(let asked, let room, let history), .history(let messages, let hasMore)):
            return self.finishEnter(room, history: history, asked, messages, hasMore: hasMore, now, &effects)
        case (.put(let request, let record), .done):
            effects.append(.reply(request, .done))
            return self.followPut(record, &effects)
        case (.put(let request, _), .refused(let problem)):
            return effects.append(.reply(request, .refused(problem)))
        case (.enterRoom(let asked, let room, _), .refused(let problem)):
            self.endEntering(room, asked)
            return self.answer(asked.requester, .refused(problem), &effects)
        case (.userAccount(let request, let user, let change), .done):
            return self.finishAccount(request, user, change, now, &effects)
        case (.kick(let device), .done):
            return self.removeDevice(device, now, &effects)
        case (.shown(let user, let recall, let position, let wasUnread), .trace(let trace)):
            return self.takeUpRecall(
                recall, at: position, wasUnread: wasUnread, of: user, trace, now, &effects)
        case (.pushState(_, let registrant), .done): return self.finishRegistering(registrant, &effects)
        case (.pushState(_, let registrant), .taken(let devices)):
            self.finishRegistering(registrant, &effects)
            return self.takeTokens(from: devices, now, &effects)
        case (.typing(let conversation, let user, let isTyping, let session), .conversation(let info)):
            self.sessions[session]?.isTypingAsked = false
            return self.tellTyping(isTyping, of: user, in: conversation, to: info.members.map(\.id), now, &effects)
        case (.typing(let conversation, let user, let isTyping, let session), .done):
            self.sessions[session]?.isTypingAsked = false
            let seen = ConversationID(type: conversation.type, target: user.user.rawValue)
            return self.tellTyping(isTyping, of: user, in: seen, to: [UserID(conversation.target)], now, &effects)
        case (.typing(_, _, _, let session), .refused):
            self.sessions[session]?.isTypingAsked = false
            return
        case (.opened(let session), .done):
            self.sessions[session]?.openedInFlight -= 1
            return
        case (.readReceipt(let user, let conversation), .page(let page)):
            return self.tellReading(user, conversation, page, &effects)
        case (.userAccount, _), (.enterRoom, _), (.kick, _), (.pushState, _), (.typing, _), (.shown, _),
            (.readReceipt, _),
            (.opened, _), (.put, _):
            break
        }
        self.flag("\(errand)", &effects)
    }
}
