import StoreModel
import TidingsModel

extension ServerCore {
    /// Serves a person with a user token that is theirs, as long as that is good.
    mutating func serveMedia(
        _ question: MediaQuestion, of user: UserKey, slot: Int, issuedAt: Int64?, for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        self.people[slot].busyAt = now.monotonic
        self.arm(slot)
        do throws(ServerFrame.Problem) {
            if let fault = self.people[slot].account.fault(inTokenIssuedAt: issuedAt) { throw fault }
            try self.admitCommand(.requests, of: user.app, slot: slot, "request", now, &effects)
            try self.checkBacklog(of: .person(user), &effects)
        } catch {
            return effects.append(.reply(request, .refused(error)))
        }
        switch question {
        // Whoever has the app's binary could fill the disk.
        case .account:
            effects.append(
                .reply(request, user.user.isAnonymous ? .refused(AnonymousRules.notOpen("media")) : .done))
        case .read(let media, let message):
            self.sendToStore(
                .readMedia(user, media, in: message, room: self.roomAccess(now)), for: .apiAnswer(request),
                by: .person(user), &effects)
        }
    }
}
