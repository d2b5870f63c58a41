import APNsCore
import HTTPTypes
import Hummingbird
import NIOCore
import TidingsModel

/// The control port: log, devices, faults.
enum ControlAPI {
    /// The routes; each hops to the engine's loop.
    static func router(engine: SimulatorEngine) -> Router<BasicRequestContext> {
        let router = Router()
        router.get("/log") { request, _ in
            let apnsID = request.uri.queryParameters.get("apns_id")
            let token = request.uri.queryParameters.get("token")
            return try await Self.answer(engine) { engine in
                engine.entries { entry in
                    (apnsID == nil || entry.apnsID == apnsID) && (token == nil || entry.token == token)
                }
            }
        }
        router.get("/devices") { _, _ in try await Self.answer(engine) { $0.devices } }
        router.post("/faults") { request, _ in
            let body = try await request.body.collect(upTo: 16_384)
            do {
                let plan = try FaultPlan(json: try JSONValue(parsing: body.readableBytesView, depthMax: 8))
                return try await Self.answer(engine) { engine in
                    engine.setFaults(plan)
                    return ["ok": true]
                }
            } catch let fault as InvalidField {
                return Self.problem(.badRequest, field: fault.field, rule: fault.rule)
            } catch let fault as JSONError {
                return Self.problem(.badRequest, field: "body", rule: "must be JSON: \(fault)")
            }
        }
        router.post("/devices/{token}/retire") { _, context in
            let token = PushToken(try context.parameters.require("token").lowercased())
            let isKnown = try await Self.onLoop(engine) { $0.retire(token) }
            guard isKnown else {
                return Self.problem(.notFound, field: "token", rule: "must be a token in use; GET /devices lists them")
            }
            return Self.response(.ok, ["ok": true])
        }
        return router
    }

    private static func onLoop<Value: Sendable>(
        _ engine: SimulatorEngine, _ body: @escaping @Sendable (SimulatorEngine) -> Value
    ) async throws -> Value {
        try await engine.eventLoop.submit { body(engine) }.get()
    }

    private static func answer(
        _ engine: SimulatorEngine, _ body: @escaping @Sendable (SimulatorEngine) -> JSONValue
    ) async throws -> Response {
        Self.response(.ok, try await Self.onLoop(engine, body))
    }

    private static func problem(_ status: HTTPResponse.Status, field: String, rule: String) -> Response {
        Self.response(
            status,
            [
                "title": "bad input", "status": .int(status.code), "detail": .string("\(field) \(rule)"),
                "field": .string(field), "rule": .string(rule),
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
