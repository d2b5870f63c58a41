import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension APIProblem {
    static let notReady = APIProblem(
        .told(.unavailable), rule: "the server takes no work at the moment; try again later",
        headers: [.retryAfter: "1"])
}

extension API {
    func addEvents(to app: RouterGroup<Context>) {
        app.get("events") { try await self.events($0, $1) }
    }

    private func events(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace, query: ["types", "at_most", "last_event_id"])
        let kinds = try self.kinds(request)
        let mostPerLook = try self.mostPerLook(request)
        let last = Self.lastEventID(request)
        let isOperator = if case .ofOperator? = context.note.caller { true } else { false }
        guard let place = self.feed.enter(app, isOperator: isOperator) else {
            throw APIProblem(
                .told(.unavailable), field: "events",
                rule:
                    "must be read by at most \(EventFeed.readersMax) \(isOperator ? "operators" : "of the app") at a time",
                headers: [.retryAfter: "1"])
        }
        guard let (cursor, isReset) = self.feed.start(app, after: last.flatMap { ReportID($0) }) else {
            throw APIProblem.notReady
        }
        // A writer finds out at its next write, which may be long in coming, and until then nobody else had the place.
        context.channel.closeFuture.whenComplete { [weak place] _ in place?.leave() }
        // What is no id at all is not known, either.
        let isUnknown = last.map { ReportID($0) == nil } ?? false
        var stream = EventStream(
            feed: self.feed, place: place, kinds: kinds, start: cursor, isReset: isReset || isUnknown,
            mostPerLook: mostPerLook)
        stream.isOpen = self.mayGoOn(request, context) { keys, key in
            if case .granted = keys.access(app: app, key: key, scope: .trace) { true } else { false }
        }
        return stream.response
    }

    /// All without `types`.
    private func kinds(_ request: Request) throws(InvalidField) -> Set<ServerReport.Kind> {
        guard let text = request.member("types") else { return Set(ServerReport.Kind.allCases) }
        var kinds: Set<ServerReport.Kind> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            kinds.insert(try self.word(String(word), "types"))
        }
        return kinds
    }

    /// Nil without `at_most`.
    private func mostPerLook(_ request: Request) throws(InvalidField) -> Int? {
        guard request.member("at_most") != nil else { return nil }
        return Int(try Self.number(request, "at_most", EventStream.mostPerLookRange, default: nil))
    }

    private static let lastEventIDHeader = HTTPField.Name("Last-Event-ID")

    /// The header goes before the query: a browser that comes back has the newest there, and the oldest still in its address.
    private static func lastEventID(_ request: Request) -> String? {
        if let name = self.lastEventIDHeader, let id = request.headers[name], !id.isEmpty { return id }
        return request.member("last_event_id")
    }
}
