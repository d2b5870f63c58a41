/// How many frames that carry nothing the other side may still send: PING, SETTINGS, RST_STREAM, WINDOW_UPDATE,
/// PRIORITY,
/// empty DATA, unknown types, faults of a stream. Each costs one, each answered request gives ten back, up to the
/// limit.
/// Who uses it up is ended with ENHANCE_YOUR_CALM (RFC 9113 §10.5).
struct ControlFrameBudget: Hashable {
    static let limit = 10_000
    private static let perAnswer = 10

    private(set) var left = Self.limit

    mutating func charge() throws(ConnectionFault) {
        guard self.left > 0 else {
            throw ConnectionFault(.enhanceYourCalm, "too many frames that carry nothing")
        }
        self.left -= 1
    }

    mutating func reward() { self.left = min(self.left + Self.perAnswer, Self.limit) }

    mutating func forgive() { self.left = Self.limit }
}
