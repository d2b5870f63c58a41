import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TidingsModel
import VirtualPhone

/// The HTTP of `tidings phones`: every request needs its token.
struct PhonesAPI: Sendable {
    typealias Context = BasicRequestContext

    let host: PhonesHost
    private let token: SHA256.Digest

    /// A screenful of views is some tens of kilobytes; a command is less.
    static let bodyBytesMax = 1_048_576

    init(_ host: PhonesHost, token: String) {
        self.host = host
        self.token = SHA256.hash(data: Data(token.utf8))
    }

    var router: Router<Context> {
        let router = Router(context: Context.self, options: .autoGenerateHeadEndpoints)
        router.middlewares.add(PhonesGuard(token: self.token))
        let phones = router.group("v1/phones")
        phones.get { request, _ in
            try Self.checkQuery(request, [])
            return Self.response(
                [
                    "phones": .array(await self.host.list.map(\.json)), "can_start": true,
                    "delegates": await self.host.choices,
                ])
        }
        phones.post { request, _ in
            try Self.checkQuery(request, [])
            let setup = try HostedPhoneSetup(json: try await Self.body(request))
            return Self.response(try await self.host.start(setup).json, status: .created)
        }
        phones.delete("{id}") { request, context in
            try Self.checkQuery(request, [])
            guard try await self.host.end(try context.parameters.require("id")) else {
                throw PhonesProblem.unknownPhone
            }
            return Response(status: .noContent)
        }
        phones.post("{id}/commands") { request, context in try await self.command(request, context) }
        phones.get("{id}/events") { request, context in try await self.events(request, context) }
        return router
    }

    private func phone(_ context: Context) async throws -> PhonesHost.Hosted {
        guard let phone = await self.host.phone(try context.parameters.require("id")) else {
            throw PhonesProblem.unknownPhone
        }
        return phone
    }

    /// A refused command is an answer, as on the control channel.
    private func command(_ request: Request, _ context: Context) async throws -> Response {
        try Self.checkQuery(request, [])
        let phone = try await self.phone(context)
        let fields = try await Self.body(request)
        do throws(InvalidField) {
            let word: String = try fields.get("do")
            guard !["quit", "subscribe"].contains(word) else {
                let way = word == "quit" ? "DELETE ends the phone" : "GET …/events streams"
                throw InvalidField(field: "do", rule: "is a word of the control channel; here \(way): \(word)")
            }
            let command = try PhoneCommand(json: .object(fields.object), apps: [phone.app.bundleID])
            return Self.response(["ok": true, "result": try await phone.host.perform(command)])
        } catch {
            return Self.response(["ok": false, "field": .string(error.field), "rule": .string(error.rule)])
        }
    }

    private func events(_ request: Request, _ context: Context) async throws -> Response {
        try Self.checkQuery(request, ["last", "after"])
        let phone = try await self.phone(context)
        let (last, after) = (try Self.number("last", request), try Self.number("after", request))
        guard last == nil || after == nil else {
            throw InvalidField(field: "after", rule: "must not be given with last")
        }
        let start: PhoneHost.ReadingStart = after.map { .after($0) } ?? .last(last ?? HostedPhoneEvents.usualLines)
        let lastID = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
        let events = try await HostedPhoneEvents(phone, start: start, lastID: lastID)
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                try await events.write(to: &writer)
                try await writer.finish(nil)
            })
    }

    // MARK: Requests and answers

    private static func body(_ request: Request) async throws -> JSONFields {
        let bytes = try await request.body.collect(upTo: Self.bodyBytesMax).readableBytesView
        return try JSONFields(parsing: bytes)
    }

    private static func checkQuery(_ request: Request, _ names: [String]) throws(InvalidField) {
        guard let members = PercentEncoding.members(of: request.uri.query ?? "") else {
            throw InvalidField(field: "query", rule: "must be UTF-8, with percent signs (RFC 3986 §2.1)")
        }
        for (name, _) in members where !names.contains(name) {
            throw InvalidField(
                field: name,
                rule: names.isEmpty ? "is not known" : "is not one of \(names.joined(separator: ", "))")
        }
    }

    private static func number(_ name: String, _ request: Request) throws(InvalidField) -> Int? {
        let members = PercentEncoding.members(of: request.uri.query ?? "")
        guard let text = members?.first(where: { $0.name == name })?.value else { return nil }
        guard let number = Int(digits: text) else {
            throw InvalidField(field: name, rule: "must be a whole number, 0 or more, got \"\(text)\"")
        }
        return number
    }

    fileprivate static func response(_ json: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.serialized)))
    }
}

/// A refusal of a request, beside a field that breaks its rule.
private enum PhonesProblem: Error {
    case unauthorized
    case unknownPhone

    var answer: (status: HTTPResponse.Status, field: InvalidField) {
        switch self {
        case .unauthorized:
            (
                .unauthorized,
                InvalidField(field: "Authorization", rule: "must be \"Bearer TOKEN\" with the token of the file")
            )
        case .unknownPhone: (.notFound, InvalidField(field: "id", rule: "names no phone that is on"))
        }
    }
}

/// Around every route, also those that do not exist: without the token nothing is told.
private struct PhonesGuard: RouterMiddleware {
    let token: SHA256.Digest

    func handle(
        _ request: Request, context: PhonesAPI.Context,
        next: (Request, PhonesAPI.Context) async throws -> Response
    ) async throws -> Response {
        do {
            guard self.isGood(request.headers[.authorization]) else { throw PhonesProblem.unauthorized }
            return try await next(request, context)
        } catch let problem as PhonesProblem {
            return Self.refusal(problem.answer.status, problem.answer.field)
        } catch let invalid as InvalidField {
            return Self.refusal(.badRequest, invalid)
        } catch let failure as ToolFailure {
            return Self.refusal(.badRequest, InvalidField(field: "phone", rule: "cannot be started: \(failure)"))
        } catch let error as any HTTPResponseError {
            return Self.refusal(
                error.status, InvalidField(field: "request", rule: "cannot be answered: \(error.status.reasonPhrase)"))
        } catch {
            return Self.refusal(.internalServerError, InvalidField(field: "request", rule: "failed: \(error)"))
        }
    }

    /// Comparing digests is swift-crypto's constant-time comparison.
    private func isGood(_ header: String?) -> Bool {
        let prefix = "Bearer "
        let given = header.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : "" } ?? ""
        return SHA256.hash(data: Data(given.utf8)) == self.token
    }

    private static func refusal(_ status: HTTPResponse.Status, _ fault: InvalidField) -> Response {
        PhonesAPI.response(["field": .string(fault.field), "rule": .string(fault.rule)], status: status)
    }
}
