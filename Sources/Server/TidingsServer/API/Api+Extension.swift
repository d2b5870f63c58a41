import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// What the notification service extension asks, with the token its device received at the last connect (DESIGN §7
/// "Extension").
extension Api {
    /// How many entries one fetch brings at most (DESIGN §5 "Keep-one").
    private static let missedMax: Int64 = 20

    /// Adds the extension's routes.
    func addExtension(to router: Router<Context>) {
        let group = router.group("v1/extension")
        group.post("receipts") { request, _ in try await self.receipt(request) }
        group.get("missed") { request, _ in try await self.missed(request) }
    }

    private func device(_ request: Request) throws(ApiProblem) -> DeviceKey {
        guard let token = Self.bearer(request),
            let device = self.tokens.device(ofExtensionToken: token, wallMilliseconds: Clocks.now().wall)
        else {
            throw Self.unauthorized("must be \"Bearer TOKEN\" with the extension token of the last connect")
        }
        return device
    }

    private func receipt(_ request: Request) async throws -> Response {
        let device = try self.device(request)
        var body = try await self.body(request)
        let message = try self.messageID(try body.string("message_id"), "message_id")
        guard let receipt = LegReceipt(rawValue: try body.string("receipt")) else {
            throw ApiProblem(InvalidField(field: "receipt", rule: "must be shown or opened"))
        }
        try body.refuseUnknown()
        let leg = LegID(message: message, user: device.user, device: device.device)
        switch await self.server.ask(.receipt(leg, receipt)) {
        case .done: return Response(status: .noContent)
        case .refused(let problem): throw ApiProblem(problem)
        case .accepted, .trace, .page: throw ApiProblem.bug
        }
    }

    private func missed(_ request: Request) async throws -> Response {
        let device = try self.device(request)
        let after = try self.number(request, "after", 0...Int64.max, default: nil)
        let limit = try self.number(request, "limit", 1...Self.missedMax, default: Self.missedMax)
        switch await self.server.ask(.readLog(device.user, after: LogPosition(after), limit: Int(limit))) {
        case .page(let page): return .json(page.json(for: device.user.user))
        case .refused(let problem): throw ApiProblem(problem)
        case .accepted, .done, .trace: throw ApiProblem.bug
        }
    }

    private func number(
        _ request: Request, _ name: String, _ range: ClosedRange<Int64>, default fallback: Int64?
    ) throws(ApiProblem) -> Int64 {
        let rule = "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let text = request.uri.queryParameters.get(name) else {
            guard let fallback else { throw ApiProblem(InvalidField(field: name, rule: rule)) }
            return fallback
        }
        guard let number = Int64(text), range.contains(number) else {
            throw ApiProblem(InvalidField(field: name, rule: rule))
        }
        return number
    }
}

extension LogPage {
    /// The page as one person sees it.
    fileprivate func json(for user: UserID) -> JSONValue {
        let entries = self.entries.map { entry -> JSONValue in
            switch entry.body {
            case .message(let message):
                [
                    "position": .int(entry.position), "message_id": .string(message.id.description),
                    "sender": .string(message.sender.rawValue),
                    "conversation": message.conversation(seenBy: user).json,
                    "object_name": .string(message.objectName.rawValue), "content": .string(message.content),
                    "push_text": message.pushText.map { .string($0) } ?? .null,
                    "counted": .bool(message.flags.contains(.counted)),
                    "notified": .bool(message.flags.contains(.notified)), "sent_at": .int(message.sentAt),
                ]
            case .read(let conversation, let upTo):
                ["position": .int(entry.position), "read": conversation.json, "up_to": .int(upTo)]
            }
        }
        return ["entries": .array(entries), "head": .int(self.head), "unread": .int(self.unread)]
    }
}
