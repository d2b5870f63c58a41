import Hummingbird
import Logging
import NIOCore
import ServerCore
import Synchronization
import TidingsModel

struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The peer of its socket; nil if that has no address.
    let peer: IPAddress?
    /// The connection.
    let channel: any Channel
    /// The client's, or ours (`RequestID`).
    var requestID = ""
    var client = RemoteAddress.unknown
    let note = AuditLog.Note()
    let share = Share()
    /// The connections of the listener.
    var connections: HTTPConnections?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.peer = source.channel.remoteAddress.ip
        self.channel = source.channel
    }

    /// The request is the person's: their limits hold for it.
    /// - Throws: status 429 if as many of theirs are under way as may be.
    func count(for person: UserKey) throws(APIProblem) {
        self.share.question = .extensionRequests(person)
        guard let connections = self.connections, !connections.admits(person, on: self.channel) else { return }
        throw APIProblem(
            .told(.rateLimited), field: "http.answers_per_person_max",
            rule: "must not be exceeded: read one of \(connections.limits.answersPerPersonMax) answers under way first",
            headers: [.retryAfter: "1"])
    }

    /// Whose limits the request counts for, once that is known; nil where nothing limits it.
    final class Share: Sendable {
        private let found = Mutex<QuotaQuestion?>(nil)

        var question: QuotaQuestion? {
            get { self.found.withLock { $0 } }
            set { self.found.withLock { $0 = newValue } }
        }
    }
}
