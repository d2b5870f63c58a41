package import TidingsModel

/// The name of a file for people who save it.
package enum MediaName {
    static let bytesMax = 128

    /// The last part of a path, without what cannot be seen or turns text, and with an ending of the file's kind; nil if nothing is left.
    package static func cleaned(_ text: String, _ kind: MediaKind) -> String? {
        let last = text.split(whereSeparator: { $0 == "/" || $0 == "\\" || $0 == ":" }).last ?? ""
        var name = String(String.UnicodeScalarView(last.unicodeScalars.filter(Self.isPlain)))
        while let first = name.first, first == "." || first == " " { name.removeFirst() }
        while let last = name.last, last == "." || last == " " { name.removeLast() }
        let ending = ".\(kind.fileEnding)"
        while name.utf8.count > Self.bytesMax - ending.utf8.count { name.removeLast() }
        guard !name.isEmpty else { return nil }
        return name.lowercased().hasSuffix(ending) || kind == .jpeg && name.lowercased().hasSuffix(".jpeg")
            ? name : name + ending
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: !"\"<>|?*".unicodeScalars.contains(scalar)  // tidy: every other category can be seen
        }
    }
}
