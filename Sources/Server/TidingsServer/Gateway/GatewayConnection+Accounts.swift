import TidingsModel

// Who writes as an account: the audit log is told once the message is on disk, or refused.
extension GatewayConnection {
    func noteAccount(of frame: ClientFrame) {
        guard case .send(let draft) = frame, let account = draft.account else { return }
        self.accounts[draft.clientMessageID] = ConversationID(type: draft.conversation.type, target: account.rawValue)
    }

    func logAccount(_ frame: ServerFrame) {
        guard !self.accounts.isEmpty, let signIn = self.signIn else { return }
        switch frame {
        case .sendAccepted(let accepted):
            guard let account = self.accounts.removeValue(forKey: accepted.clientMessageID) else { return }
            self.server.audit.logSend(signIn, as: account, accepted.messageID)
        case .sendRefused(let id, let problem):
            guard let account = self.accounts.removeValue(forKey: id), problem.code == .notAllowed else { return }
            self.server.audit.logRefusal(signIn, as: account, problem.code)
        default: return
        }
    }
}
