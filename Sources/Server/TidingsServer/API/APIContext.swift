import Hummingbird
import Logging
import NIOCore

/// What is known of a request besides the request itself.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The peer of its socket; nil if that has no address.
    let peer: IPAddress?
    /// Its id, ours or a trusted proxy's.
    var requestID = ""
    /// Where it comes from.
    var client = RemoteAddress.unknown
    /// What the audit log tells of it.
    let note = AuditLog.Note()

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.peer = source.channel.remoteAddress.ip
    }
}
