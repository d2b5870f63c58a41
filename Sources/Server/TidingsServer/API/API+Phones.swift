import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import StoreModel
import TidingsModel

/// The virtual phones of `tidings phones`, for operators: asked for there, with its token; here with the rules of every other route.
extension API {
    static let phoneRoutes: [Route] = [
        .operators(.get, "v1/phones", .view, API.phones),
        .operators(.post, "v1/phones", .administer, API.startPhone),
        .operators(.delete, "v1/phones/{id}", .administer, API.endPhone),
        .operators(.get, "v1/phones/{id}/events", .content, query: ["last", "after"], API.phoneEvents),
        .open(.post, "v1/phones/{id}/commands", API.phoneCommand),
    ]

    private func phones(_ request: Request, _ context: Context) async throws -> Response {
        Self.passed(try await self.phonesProxy().request(.GET, Self.phonesPath))
    }

    private func startPhone(_ request: Request, _ context: Context) async throws -> Response {
        let proxy = try self.phonesProxy()
        let bytes = try await self.bytes(request)
        // Whatever else stands in it, the host looks at.
        let id = try APIBody(bytes).optionalString("id")
        context.note.change = id
        let answer = try await proxy.request(.POST, Self.phonesPath, body: bytes)
        context.note.audited = AuditedCall(nil, action: "POST phones", subject: id ?? "")
        return Self.passed(answer, status: .created)
    }

    private func endPhone(_ request: Request, _ context: Context) async throws -> Response {
        let path = try Self.phonePath(context)
        _ = try await self.phonesProxy().request(.DELETE, path)
        context.note.audited = AuditedCall(
            nil, action: "DELETE phones/{id}", subject: try Self.parameter("id", context))
        return Response(status: .noContent)
    }

    private func phoneCommand(_ request: Request, _ context: Context) async throws -> Response {
        let operatorRecord = try self.authorizeOperator(request, context, .content)
        let path = try Self.phonePath(context)
        let proxy = try self.phonesProxy()
        let bytes = try await self.bytes(request)
        let word = try APIBody(bytes).string("do")
        let isLook = Self.lookingWords.contains(word)
        guard isLook || operatorRecord.role >= .send else { throw APIKeys.Refusal.missingRole(.send).problem }
        let answer = try await proxy.request(.POST, "\(path)/commands", body: bytes)
        if isLook {
            // Pages look several times a second: the audit log has a line of the stream that they read beside it, and none of each look.
            context.note.caller = nil
        } else {
            context.note.change = word
            // What the phone itself has refused was not done.
            if try JSONValue(parsing: answer.readableBytesView)["ok"] != false {
                context.note.audited = AuditedCall(
                    nil, action: "POST phones/{id}/commands", subject: "\(try Self.parameter("id", context)) \(word)")
            }
        }
        return Self.passed(answer)
    }

    /// Commands of the control channel that do nothing to the phone.
    private static let lookingWords: Set = ["screen", "views", "picture", "trace"]

    private func phoneEvents(_ request: Request, _ context: Context) async throws -> Response {
        let path = try Self.phonePath(context)
        let proxy = try self.phonesProxy()
        let query = try Self.phoneEventsQuery(request)
        guard let place = proxy.enter() else {
            throw APIProblem(
                .told(.unavailable), field: "events",
                rule: "must be read by at most \(PhonesProxy.readersMax) at a time", headers: [.retryAfter: "1"])
        }
        let events = try await proxy.open("\(path)/events\(query)", lastEventID: Self.phoneEventID(request))
        let readiness = self.readiness
        let isOpen = self.mayGoOn(request, context) { keys, key in
            keys.operatorRecord(key: key).map { $0.role >= .content } ?? false
        }
        let mayGoOn: @Sendable () -> Bool = { readiness.state != .stopping && isOpen() }
        return PhonesStream(answer: events, place: place, mayGoOn: mayGoOn).response
    }

    // MARK: - The host

    private static let phonesPath = "/v1/phones"

    /// - Throws: status 404.
    private func phonesProxy() throws -> PhonesProxy {
        guard let proxy = self.phoneHost else {
            throw APIProblem(
                .phonesOff, field: "console.phones", rule: "must name where `tidings phones` runs: serve --phones")
        }
        return proxy
    }

    /// - Throws: status 404 for what is no phone's name: it would be another path there.
    private static func phonePath(_ context: Context) throws -> String {
        let id = try Self.parameter("id", context)
        let isName =
            (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || byte == 0x2d || byte == 0x5f
            }
        guard isName else { throw APIProblem(.unknownPhone, field: "id", rule: "names no phone that is on") }
        return "\(Self.phonesPath)/\(id)"
    }

    private static func phoneEventsQuery(_ request: Request) throws(InvalidField) -> String {
        var query = ""
        for name in ["last", "after"] {
            guard let text = request.member(name) else { continue }
            guard let number = Int(digits: text) else {
                throw InvalidField(field: name, rule: "must be a whole number, 0 or more")
            }
            query += "\(query.isEmpty ? "?" : "&")\(name)=\(number)"
        }
        return query
    }

    /// Nil for what no host has given.
    private static func phoneEventID(_ request: Request) -> String? {
        guard let id = Self.header("Last-Event-ID", request), (1...128).contains(id.utf8.count),
            id.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        return id
    }

    /// It is what one sees of people's messages.
    private static func passed(_ answer: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
        var body = answer
        body.writeInteger(UInt8(ascii: "\n"))
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: body))
    }
}

/// Events of a phone as they come from its host: no more is read there than is written here.
struct PhonesStream: Sendable {
    let answer: PhonesAnswer
    /// Free again when the stream has ended.
    let place: PhonesProxy.Place
    /// Not when what has opened it opens it no more (`API.mayGoOn`), and not while the server stops.
    let mayGoOn: @Sendable () -> Bool

    private static let interval = TimeAmount.seconds(1)

    var response: Response {
        .events { writer in
            let watch = self.answer.watch(every: Self.interval, self.mayGoOn)
            defer { watch.cancel() }
            // A host that goes away, or is silent, ends the stream: its reader comes back.
            while self.mayGoOn(), let bytes = try? await self.answer.nextBytes() { try await writer.write(bytes) }
        }
    }
}
