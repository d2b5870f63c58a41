public import TidingsKit
import TidingsModel

/// The state of a message of the person's own.
public enum SendState: Hashable, Sendable {
    /// On its way.
    case sending
    /// Kept until there is a connection.
    case waiting
    /// Its file is on its way: 0 to 100 % of it are there.
    case uploading(percent: Int)
    /// Refused; it is kept, to be sent again.
    case failed(ChatFailure)
    /// The server has it.
    case sent
    /// It has arrived with the other person.
    case delivered
    /// The other person has read it.
    case read
    /// So many of so many people have read it.
    case readBy(Int, of: Int)

    /// Returns the text below the message.
    public func text(in words: ChatWords) -> String {
        switch self {
        case .sending: words.sending
        case .waiting: words.waiting
        case .uploading(let percent): words.uploading.filled([("percent", "\(percent)")])
        case .failed(.failed): words.notSent
        case .failed(let failure): "\(words.notSent): \(failure.text(in: words))"
        case .sent: words.sent
        case .delivered: words.delivered
        case .read: words.read
        case .readBy(let count, let total): words.readBy.filled([("count", "\(count)"), ("total", "\(total)")])
        }
    }

    /// True if it was refused.
    public var isFailed: Bool {
        if case .failed = self { return true }
        return false
    }
}

extension ChatFailure {
    /// A sentence for the person.
    public func text(in words: ChatWords) -> String {
        switch self {
        case .failed: words.failed
        case .noConnection: words.noConnection
        case .blocked: words.blocked
        case .muted: words.muted
        case .notAMember: words.notAMember
        case .notAllowed: words.notAllowed
        case .tooLate: words.tooLate
        case .gone: words.gone
        case .tooLong: words.tooLong
        case .fileRefused: words.fileRefused
        }
    }
}

extension ReceiptMarks {
    func state(of message: MessageID) -> SendState {
        if let receipts = self.receipts[message] {
            if !receipts.read.isEmpty { return .readBy(receipts.read.count, of: receipts.recipients) }
            return receipts.delivered.isEmpty ? .sent : .delivered
        }
        if let upTo = self.readUpTo, message <= upTo { return .read }
        if let upTo = self.deliveredUpTo, message <= upTo { return .delivered }
        return .sent
    }
}
