import StoreModel
import TidingsModel

// A person who writes as an account is told to the audit log, once it is on disk or refused; watchers are told of all recalls and edits.
extension ServerCore {
    mutating func noteSend(
        _ message: Message, by author: UserKey, refused problem: ServerFrame.Problem? = nil, _ session: SessionID
    ) {
        guard author != message.senderKey else { return }
        let kind: AccountAct.Kind
        if let problem {
            guard problem.code == .notAllowed, problem.field == "account" else { return }
            kind = .refused(problem.code)
        } else {
            kind = .sent(message.id)
        }
        self.noteAct(kind, as: message.sender, in: message.conversation, by: author, session)
    }

    /// A recall is told in the account's name.
    mutating func noteRecall(_ recall: Recall, _ asked: Asked) {
        let sender = UserKey(app: asked.app, user: recall.sender)
        self.turn.emit(.report(.recalled(recall.message, by: recall.id, sender, in: recall.conversation)))
        self.noteRevision(.recalled(recall.message), of: recall.sender, in: recall.conversation, asked)
    }

    /// An edit does not say whose it is: the one of the two who is not the target.
    mutating func noteEdit(_ body: LogEntry.Body, _ deliveries: [Delivery], _ asked: Asked) {
        guard case .edit(let edit) = body else { return }
        self.turn.emit(.report(.edited(edit.message, asked.app, in: edit.conversation)))
        let target = UserID(edit.conversation.target)
        let sender = deliveries.first { $0.user != target }?.user ?? target
        self.noteRevision(.edited(edit.message), of: sender, in: edit.conversation, asked)
    }

    private mutating func noteRevision(
        _ kind: AccountAct.Kind, of sender: UserID, in conversation: ConversationID, _ asked: Asked
    ) {
        guard conversation.type.isService, case .session(let session, _) = asked.requester, let actor = asked.actor,
            actor != sender
        else { return }
        self.noteAct(kind, as: sender, in: conversation, by: UserKey(app: asked.app, user: actor), session)
    }

    private mutating func noteAct(
        _ kind: AccountAct.Kind, as account: UserID, in conversation: ConversationID, by person: UserKey,
        _ session: SessionID
    ) {
        let id = ConversationID(type: conversation.type, target: account.rawValue)
        self.turn.emit(.noteAct(AccountAct(kind: kind, account: id, person: person), session))
    }
}
