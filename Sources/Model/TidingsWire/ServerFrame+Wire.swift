import SwiftProtobuf
import TidingsModel

extension WireServerFrame {
    init(_ frame: ServerFrame) {
        switch frame {
        case .welcome(let welcome):
            self.welcome = .with {
                $0.version = welcome.version
                $0.serverTime = welcome.serverTime
                $0.head = welcome.head
                $0.unread = welcome.unread
                $0.heartbeatMs = welcome.heartbeatMilliseconds
                $0.frameBytesMax = welcome.frameBytesMax
                $0.recipientTag = welcome.recipientTag
                $0.extensionToken = welcome.extensionToken
                $0.storeID = welcome.storeID
                $0.generation = welcome.generation
                $0.serverFrameBytesMax = welcome.serverFrameBytesMax
                $0.opening = welcome.opening
                $0.otherLog = welcome.isOtherLog
            }
        case .sendAccepted(let accepted):
            self.sendAccepted = .with {
                $0.clientMessageID = accepted.clientMessageID.rawValue
                $0.messageID = accepted.messageID.description
                $0.sentAt = accepted.sentAt
                $0.position = accepted.position
            }
        case .sendRefused(let id, let problem):
            self.sendRefused = .with {
                $0.clientMessageID = id.rawValue
                $0.problem = WireProblem(problem, isFatal: false)
            }
        case .entry(let entry): self.entry = WireEntry(entry)
        case .page(let page):
            self.page = .with {
                $0.after = page.after
                $0.entries = page.entries.map(WireEntry.init)
                $0.head = page.head
                $0.unread = page.unread
                if let pushes = page.pushes {
                    $0.pushes = .with {
                        $0.unsent = pushes.unsent
                        $0.underWay = pushes.underWay
                    }
                }
            }
        case .pong(let nonce): self.pong = .with { $0.nonce = nonce }
        case .problem(let problem, let isFatal): self.problem = WireProblem(problem, isFatal: isFatal)
        case .reconnect(let after): self.reconnect = .with { $0.afterMs = after }
        case .answer(let number, let answer): self.answer = WireAnswer(number, answer)
        case .signal(let signal): self.signal = WireSignal(signal)
        case .tokenExpiring(let at): self.tokenExpiring = .with { $0.expiresAt = at }
        }
    }

    func model() throws(FrameError) -> ServerFrame {
        switch self.frame {
        case nil: throw .empty
        case .welcome(let welcome):
            return .welcome(
                ServerFrame.Welcome(
                    version: welcome.version, serverTime: welcome.serverTime, head: welcome.head,
                    unread: welcome.unread, heartbeatMilliseconds: welcome.heartbeatMs,
                    frameBytesMax: welcome.frameBytesMax, recipientTag: welcome.recipientTag,
                    extensionToken: welcome.extensionToken, storeID: welcome.storeID, generation: welcome.generation,
                    serverFrameBytesMax: welcome.serverFrameBytesMax, opening: welcome.opening,
                    isOtherLog: welcome.otherLog))
        case .sendAccepted(let accepted):
            return .sendAccepted(
                ServerFrame.SendAccepted(
                    clientMessageID: ClientMessageID(accepted.clientMessageID),
                    messageID: try messageID(accepted.messageID, field: "message_id"), sentAt: accepted.sentAt,
                    position: accepted.position))
        case .sendRefused(let refused):
            return .sendRefused(ClientMessageID(refused.clientMessageID), refused.problem.model())
        case .entry(let entry): return .entry(try entry.model())
        case .page(let page):
            return .page(
                ServerFrame.Page(
                    after: page.after,
                    entries: try page.entries.map { (entry) throws(FrameError) in try entry.model() },
                    head: page.head, unread: page.unread,
                    pushes: page.hasPushes
                        ? ServerFrame.Pushes(unsent: page.pushes.unsent, underWay: page.pushes.underWay) : nil))
        case .pong(let pong): return .pong(pong.nonce)
        case .problem(let problem): return .problem(problem.model(), isFatal: problem.fatal)
        case .reconnect(let reconnect): return .reconnect(afterMilliseconds: reconnect.afterMs)
        case .answer(let answer): return .answer(answer.number, try answer.model())
        case .signal(let signal): return .signal(try signal.model())
        case .tokenExpiring(let expiring): return .tokenExpiring(at: expiring.expiresAt)
        }
    }
}

extension WireProblem {
    init(_ problem: ServerFrame.Problem, isFatal: Bool) {
        self.init()
        self.code = problem.code.rawValue
        self.field = problem.field
        self.rule = problem.rule
        self.fatal = isFatal
        if let retryAfter = problem.retryAfterMilliseconds { self.retryAfterMs = retryAfter }
    }

    /// An unknown code of a newer server is a refusal: its name goes into the rule, for a person.
    func model() -> ServerFrame.Problem {
        let retryAfter = self.hasRetryAfterMs ? self.retryAfterMs : nil
        guard let code = ServerFrame.Problem.Code(rawValue: self.code) else {
            return ServerFrame.Problem(
                code: .invalidField, field: self.field, rule: "\(self.rule) (\(self.code))",
                retryAfterMilliseconds: retryAfter)
        }
        return ServerFrame.Problem(code: code, field: self.field, rule: self.rule, retryAfterMilliseconds: retryAfter)
    }
}
