import APNsCore
import APNsModel
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TidingsModel

enum ControlAPI {
    static let bodyBytesMax = 1_048_576

    static func router(engine: SimulatorEngine) -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        Self.addViews(to: router, engine)
        Self.addDevices(to: router, engine)
        Self.addCredentials(to: router, engine)
        router.get("/faults") { _, _ in try await Self.answer(engine) { $0.faults } }
        router.post("/faults") { request, _ in
            let bytes = try await Self.body(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                engine.setFaults(try FaultText(bytes))
                return ["ok": true]
            }
        }
        return router
    }

    // MARK: Routes

    private static func addViews(to router: Router<BasicRequestContext>, _ engine: SimulatorEngine) {
        router.get("/log") { request, _ in
            let query = ControlQuery(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                let filter = try LogFilter(query)
                let entries = engine.entries { filter.matches($0) }
                return .array(entries.suffix(filter.limit ?? entries.count).map(\.json))
            }
        }
        router.get("/metrics") { _, _ in try await Self.answer(engine) { $0.metrics } }
        router.get("/tally") { _, _ in
            try await Self.answer(engine, field: "tally", missing: "must be begun with POST /tally") { $0.tally }
        }
        router.post("/tally") { request, _ in
            let bytes = try await Self.body(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                try engine.setTally(bytes)
                return ["ok": true]
            }
        }
        router.get("/channels") { request, _ in
            let query = ControlQuery(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                try query.only(["bundle_id"])
                guard let bundleID = query["bundle_id"] else {
                    throw InvalidField(field: "bundle_id", rule: "must be given")
                }
                return engine.channels(of: bundleID)
            }
        }
        router.post("/broadcast") { request, _ in
            let bytes = try await Self.body(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                let body = try JSONFields(control: bytes, only: ["bundle_id", "enabled"])
                engine.change(
                    .broadcastCapabilityChanged(bundleID: try body.get("bundle_id"), isOn: try body.get("enabled")))
                return ["ok": true]
            }
        }
    }

    private static func addDevices(to router: Router<BasicRequestContext>, _ engine: SimulatorEngine) {
        router.get("/devices") { request, _ in
            let query = ControlQuery(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                try query.only(["phone", "topic", "token"])
                return engine.devices { device in
                    query.allows("phone", device.target.phone.rawValue) && query.allows("topic", device.target.topic)
                        && query.allows("token", device.token.rawValue)
                }
            }
        }
        router.post("/devices") { request, _ in
            let bytes = try await Self.body(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                try engine.registerDevices(bytes)
            }
        }
        router.post("/devices/{token}/retire") { request, context in
            let token = PushToken(try context.parameters.require("token").lowercased())
            let bytes = try await Self.body(request)
            return try await Self.answer(engine, missing: "must be a token in use; GET /devices lists them") {
                engine throws(InvalidField) in
                let end: TokenEnd = try JSONFields(control: bytes, only: ["end"]).given("end") ?? .unregistered
                return engine.retire(token, end) ? ["ok": true] : nil
            }
        }
    }

    private static func addCredentials(to router: Router<BasicRequestContext>, _ engine: SimulatorEngine) {
        router.post("/keys") { request, _ in
            let bytes = try await Self.body(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                try engine.addKey(bytes)
            }
        }
        router.post("/keys/{id}/revoke") { _, context in
            let id = try context.parameters.require("id")
            return try await Self.answer(engine) { engine in
                engine.revokeKey(id)
                return ["ok": true]
            }
        }
        router.post("/certificates") { request, _ in
            let bytes = try await Self.body(request)
            return try await Self.answer(engine) { engine throws(InvalidField) in
                try engine.issueCertificate(bytes, now: Date())
            }
        }
        router.post("/certificates/{fingerprint}/revoke") { _, context in
            let fingerprint = try context.parameters.require("fingerprint").lowercased()
            return try await Self.answer(engine) { engine in
                engine.change(.certificateRevoked(fingerprint: fingerprint))
                return ["ok": true]
            }
        }
    }

    // MARK: Answers

    private static func body(_ request: Request) async throws -> [UInt8] {
        Array(try await request.body.collect(upTo: Self.bodyBytesMax).readableBytesView)
    }

    /// On the engine's loop; nil means that what the path names is not there.
    private static func answer(
        _ engine: SimulatorEngine, field: String = "token", missing: String = "is unknown",
        _ body: @escaping @Sendable (SimulatorEngine) throws(InvalidField) -> JSONValue?
    ) async throws -> Response {
        let result = try await engine.eventLoop.submit { () -> Result<JSONValue?, InvalidField> in
            do throws(InvalidField) { return .success(try body(engine)) } catch { return .failure(error) }
        }.get()
        switch result {
        case .success(let json?): return Self.response(.ok, json)
        case .success(nil): return Self.problem(.notFound, InvalidField(field: field, rule: missing))
        case .failure(let fault): return Self.problem(.badRequest, fault)
        }
    }

    private static func problem(_ status: HTTPResponse.Status, _ fault: InvalidField) -> Response {
        Self.response(
            status,
            [
                "title": "bad input", "status": .int(status.code), "detail": .string("\(fault.field) \(fault.rule)"),
                "field": .string(fault.field), "rule": .string(fault.rule),
            ], type: "application/problem+json")
    }

    private static func response(
        _ status: HTTPResponse.Status, _ json: JSONValue, type: String = "application/json"
    ) -> Response {
        var bytes: [UInt8] = json.serialized
        bytes.append(UInt8(ascii: "\n"))
        return Response(
            status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

struct ControlQuery: Sendable {
    private let members: [String: String]

    init(_ request: Request) {
        // What cannot be decoded is a member that is not known.
        self.members = Dictionary(
            PercentEncoding.members(of: request.uri.query ?? "") ?? [("query", "")],
            uniquingKeysWith: { first, _ in first }
        )
    }

    init(_ members: [String: String]) { self.members = members }

    subscript(name: String) -> String? { self.members[name] }

    func allows(_ name: String, _ value: String?) -> Bool { self.members[name].map { $0 == value } ?? true }

    func only(_ names: [String]) throws(InvalidField) {
        for name in self.members.keys.sorted() where !names.contains(name) {
            throw InvalidField(field: name, rule: "is not one of \(names.joined(separator: ", "))")
        }
    }
}

struct LogFilter: Sendable {
    private let query: ControlQuery
    private let event: String?
    private let since: Int64
    let limit: Int?

    /// - Throws: `InvalidField` naming the member of the query.
    init(_ query: ControlQuery) throws(InvalidField) {
        try query.only([
            "apns_id", "unique_id", "token", "topic", "environment", "channel_id", "event", "since_ms", "limit",
        ])
        self.query = query
        self.event = query["event"]
        self.since = try Self.number(query, "since_ms") ?? 0
        self.limit = try Self.number(query, "limit").map { Int($0) }
    }

    private static func number(_ query: ControlQuery, _ name: String) throws(InvalidField) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = Int64(digits: text) else {
            throw InvalidField(field: name, rule: "must be a whole number, 0 or more")
        }
        return number
    }

    func matches(_ entry: DeliveryLogEntry) -> Bool {
        entry.wall >= self.since && self.query.allows("apns_id", entry.apnsID)
            && self.query.allows("unique_id", entry.uniqueID) && self.query.allows("token", entry.token)
            && self.query.allows("topic", entry.topic)
            && self.query.allows("environment", entry.environment?.rawValue)
            && self.query.allows("channel_id", entry.channelID?.rawValue)
            && (self.event == nil || self.event == entry.json["event"]?.stringValue)
    }
}
