import Console
import ServerCore
import StoreModel
import TidingsModel

/// A sentence about a leg: the key of its words in the console's catalogues, the English words, and what fills their places. Console and
/// tool write devices, spans and times in their own way.
struct LegSentence: JSONWritable {
    private let key: String
    private let places: JSONMembers

    var json: JSONValue { JSONMembers(["key": self.key, "text": Self.words[self.key], "places": self.places]).json }

    /// The English words by key. The catalogue has one on each line: `'key': 'text',`.
    static let words: [String: String] = Dictionary(
        ConsoleFile.all.filter { $0.name == "text-sentences-en.js" }
            .flatMap { String(decoding: $0.bytes, as: UTF8.self).split(separator: "\n") }
            .compactMap { line -> (String, String)? in
                let parts = line.split(separator: "'")
                return parts.count == 5 ? (String(parts[1]), String(parts[3])) : nil
            }, uniquingKeysWith: { first, _ in first })

    /// Nil for a key without words.
    private init?(_ key: String, _ places: JSONMembers) {
        guard Self.words[key] != nil else { return nil }
        self.key = key
        self.places = places
    }

    /// Returns why it was pushed, what it waits for, and what has held it up, as far as that is known.
    static func all(of leg: OpenLeg, _ about: MessageLegs.About) -> [LegSentence] {
        let places = Self.party(leg.leg) + ["until": leg.notBefore, "wait": leg.wait]
        let key = "sentence.wait.\(leg.wait.rawValue)"
        let keys = [leg.notBefore.map { _ in "\(key).until" }, key, "sentence.wait"].compactMap(\.self)
        return Self.all(keys, places, leg.steps.all, about, end: nil)
    }

    /// Returns why it was pushed, how it has ended, and what had held it up, as far as that is known.
    /// - Parameter receipts: the leg's own.
    static func all(of leg: EndedLeg, _ about: MessageLegs.About, _ receipts: [MessageTrace.Receipt]) -> [Self] {
        let (name, detail, steps) = ("sentence.end.\(leg.end.name)", leg.end.detail ?? "", leg.steps.all)
        var after = leg.at - about.sentAt
        var places = Self.party(leg.leg) + ["end": leg.end.name]
        var keys = ["\(name).detail", name, "sentence.end"]
        let suppressed = detail.hasPrefix("suppressed(") ? String(detail.dropFirst(11).dropLast()) : nil
        if detail.isEmpty { keys.removeFirst() } else { places += ["reason": suppressed ?? detail] }
        switch leg.end {
        case .settled:
            keys = ["settled.\(detail)", "settled.shown"]
            if let suppressed { keys = ["settled.suppressed.\(suppressed)", "settled.suppressed"] }
        case .accepted:
            let said = receipts.first { $0.receipt == .opened } ?? receipts.first { $0.receipt == .shown }
            keys = ["\(name).\(said?.receipt.rawValue ?? "")", name]
            places += ["at": said?.at]
        case .readElsewhere:
            guard let (reader, readAt, deadline) = Self.reading(steps) else { break }
            after = readAt - about.sentAt
            places += ["reader": reader, "before": deadline.map { $0 - readAt }]
            keys = [deadline == nil ? "\(name).reader" : "\(name).deadline"]
        case .notNotifiable:
            let cause = about.conversation?.type == .chatRoom ? "room" : about.kind.rawValue
            keys = ["\(name).\(leg.leg.user.user == about.sender ? "own" : cause)", name]
        default: break  // tidy: the others are told by their names
        }
        return Self.all(keys, places + ["after": after], steps, about, end: leg.at)
    }

    /// The first of the keys that has words.
    private static func all(
        _ keys: [String], _ places: JSONMembers, _ steps: [LegStep], _ about: MessageLegs.About, end: Int64?
    ) -> [LegSentence] {
        let main = keys.compactMap { LegSentence($0, places) }.first
        return [Self.cause(steps, about), main, Self.delay(steps, end: end)].compactMap(\.self)
    }

    private static func party(_ leg: LegID) -> JSONMembers { ["user": leg.user.user, "device": leg.device] }

    /// Returns why it was pushed instead of going over the phone's own connection.
    private static func cause(_ steps: [LegStep], _ about: MessageLegs.About) -> LegSentence? {
        guard let pushed = steps.firstIndex(where: { if case .pushed = $0 { true } else { false } }) else { return nil }
        for case .turned(let turn, let at) in steps[..<pushed].reversed() {
            return LegSentence("cause.\(turn.rawValue)", ["time": at - about.sentAt])
        }
        return nil
    }

    /// Returns where it was read, and when the leg's own device missed its deadline after that; nil where nobody knows the device.
    private static func reading(_ steps: [LegStep]) -> (reader: DeviceID, at: Int64, deadline: Int64?)? {
        for case .read(let reader?, let at) in steps.reversed() {
            let missed = steps.compactMap { step -> Int64? in
                if case .turned(.deadlineMissed, let late) = step, late >= at { late } else { nil }
            }
            return (reader, at, missed.first)
        }
        return nil
    }

    /// Returns what held it up before its end, with how long each took.
    private static func delay(_ steps: [LegStep], end: Int64?) -> LegSentence? {
        let ends = steps.dropFirst().map(\.at) + [end]
        let parts = zip(steps, ends).compactMap { step, next -> LegSentence? in
            guard let next = next ?? end else { return nil }
            switch step {
            case .waited(let wait, _, let at):
                return LegSentence("sentence.heldUp.part", ["cause": wait, "time": next - at])
            case .answered(let outcome, let status, let reason, _):
                let said = reason.isEmpty ? outcome.rawValue : reason
                return LegSentence("sentence.heldUp.answer", ["answer": status == 0 ? said : "\(status) \(said)"])
            case .turned, .pushed, .read, .judged: return nil
            }
        }
        return parts.isEmpty ? nil : LegSentence("sentence.heldUp", ["causes": parts])
    }
}
