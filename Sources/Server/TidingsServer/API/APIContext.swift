import Hummingbird
import Logging
import NIOCore
import ServerCore
import Synchronization

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

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.peer = source.channel.remoteAddress.ip
        self.channel = source.channel
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
