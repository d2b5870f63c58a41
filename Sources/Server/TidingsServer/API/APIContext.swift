import Hummingbird
import Logging
import NIOCore

struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The peer of its socket; nil if that has no address.
    let peer: IPAddress?
    /// Ours or a trusted proxy's.
    var requestID = ""
    var client = RemoteAddress.unknown
    let note = AuditLog.Note()

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.peer = source.channel.remoteAddress.ip
    }
}
