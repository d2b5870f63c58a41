package import APNsModel
import StoreModel
import TidingsModel

/// How a request about broadcast channels ended.
package enum ChannelOutcome: Hashable, Sendable {
    case answered(APNsChannelAnswer)
    /// It was sent, and the answer never came.
    case unanswered(String)
    /// Why, in words.
    case notSent(String)
    case noCredential
}

// Broadcast channels are APNs' own: the server keeps none, and passes on what is asked (apns.md §17).
extension ServerCore {
    mutating func manageChannels(
        _ asked: APNsChannelRequest, in app: AppID, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        guard self.turn.state == .open else { throw Self.unavailable }
        try self.admitCommand(.requests, of: app, "request")
        do throws(InvalidField) {
            try LiveActivityPush.checkTopic(asked.bundleID)
            try self.checkBundle(asked.bundleID, of: app)
            switch asked.operation {
            case .read(let channel), .delete(let channel):
                try InvalidField.check(
                    APNsFormat.isChannelID(channel.rawValue.utf8), "channel",
                    "must be a channel id: base64 with padding, 4 to 256 characters")
            case .create, .list: break
            }
        } catch {
            throw ServerFrame.Problem(error)
        }
        guard case .create = asked.operation else {
            return self.turn.emit(.manageChannels(request, app, asked))
        }
        try self.passOnce(.channels(app, asked), in: app, for: request)
    }

    mutating func finishChannels(_ asked: APNsChannelRequest, in app: AppID, for request: APIRequestID) {
        if let id = asked.requestID, self.turn.shares.keysUnderWay[request] != nil {
            self.passed.beginChannel(id, in: app, for: request)
        }
        self.turn.emit(.manageChannels(request, app, asked))
    }

    mutating func finishChannels(_ request: APIRequestID, _ outcome: ChannelOutcome) {
        if let made = self.passed.endChannel(request) {
            self.passed.keepPush(.channels(outcome), as: made.id, in: made.app, self.turn.now)
        }
        self.turn.emit(.reply(request, .channels(outcome)))
    }
}
