import TidingsModel

/// ios-delivery.md §3.1.
enum LocalizedText {
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
