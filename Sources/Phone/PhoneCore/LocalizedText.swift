import TidingsModel

/// ios-delivery.md §3.1.
package enum LocalizedText {
    /// Stands at the beginning of a text that is looked up when its notification is shown, before its key and arguments as JSON:
    /// Apple's `NSString.localizedUserNotificationString(forKey:arguments:)`.
    private static let mark = "\u{f8ff}loc:"

    /// A text of a notification's content, to be looked up when it is shown.
    package static func deferred(key: String, arguments: [String]) -> String {
        self.mark + JSONValue.array(([key] + arguments).map { .string($0) }).text
    }

    /// Returns the text as an app with these strings shows it.
    static func shown(_ text: String, strings: [String: String]) -> String {
        guard text.hasPrefix(self.mark),
            let parts = (try? JSONValue(parsing: String(text.dropFirst(self.mark.count))))?.arrayValue,
            let key = parts.first?.stringValue
        else { return text }
        return self.text(key: key, arguments: parts.dropFirst().compactMap(\.stringValue), strings: strings)
    }

    /// A key that the app lacks stands for itself.
    package static func text(key: String, arguments: [String], strings: [String: String]) -> String {
        strings[key].map { self.fill($0, arguments: arguments) } ?? key
    }

    /// A key that the app lacks stands for itself.
    static func text(
        _ alert: JSONValue?, plain: String, key: String, arguments: String, strings: [String: String]
    ) -> String {
        guard let name = alert?[key]?.stringValue else { return alert?[plain]?.stringValue ?? "" }
        guard let format = strings[name] else { return alert?[plain]?.stringValue ?? name }
        let values = alert?[arguments]?.arrayValue?.map { $0.stringValue ?? $0.numberText ?? "" } ?? []
        return self.fill(format, arguments: values)
    }

    /// `%@`, `%u` and `%d` take the next argument, `%2$@` the second; a missing argument is empty.
    static func fill(_ format: String, arguments: [String]) -> String {
        var result = ""
        var next = 0
        var rest = Substring(format)
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            var position: Int?
            if !digits.isEmpty, rest.dropFirst(digits.count).first == "$" {
                position = Int(digits)
                rest = rest.dropFirst(digits.count + 1)
            }
            guard let kind = rest.first else { return result + "%" }
            rest = rest.dropFirst()
            switch kind {
            case "%": result += "%"
            case "@", "u", "d":
                if position == nil { next += 1 }
                let place = (position ?? next) - 1
                if arguments.indices.contains(place) { result += arguments[place] }
            default: result += "%\(kind)"
            }
        }
        return result + rest
    }
}

extension JSONValue {
    fileprivate var numberText: String? {
        if case .number(let number) = self { return number.literal }
        return nil
    }
}
