import StoreModel
import TidingsModel

extension ServerCore {
    /// Serves a person with a user token that is theirs, as long as that is good.
    mutating func serveMedia(
        _ question: MediaQuestion, of user: UserKey, slot: Int, issuedAt: Int64?, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        if let fault = self.people[slot].state.account.fault(inTokenIssuedAt: issuedAt, at: self.turn.now.wall) {
            throw fault
        }
        try self.admitCommand(.requests, of: user.app, slot: slot, "request")
        try self.turn.checkBacklog(of: .person(user))
        switch question {
        // Anyone with the app's binary could fill the disk.
        case .account:
            if user.user.isAnonymous { throw AnonymousRules.notOpen("media") }
            self.turn.emit(.reply(request, .done))
        case .read(let media, let message):
            self.turn.ask(
                .readMedia(user, media, in: message, room: self.roomAccess()), for: .api(request, .mediaUse),
                by: .person(user))
        }
    }
}
