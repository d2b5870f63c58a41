/// Reads what a person wrote into a file.
package enum FileText {
    private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// Returns the text of a file in UTF-8, without the byte-order mark that Windows writes before it.
    ///
    /// - Throws: `InvalidField` naming `field` for a text in another encoding.
    package static func read(_ bytes: some Collection<UInt8>, field: String) throws(InvalidField) -> String {
        let isMarked = bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff])
        guard !isMarked, !bytes.prefix(2).contains(0) else {
            throw InvalidField(field: field, rule: "must be in UTF-8, and this is UTF-16; save it in UTF-8")
        }
        guard let text = String(validating: bytes.dropFirst(bytes.starts(with: Self.mark) ? 3 : 0), as: UTF8.self)
        else {
            throw InvalidField(field: field, rule: "must be in UTF-8; save it in UTF-8")
        }
        return text
    }

    /// Returns a value that a person keeps in a line of its own, such as a key in the environment, without what ends the line.
    package static func line(_ value: String) -> String {
        let end = value.lastIndex { !$0.isNewline }
        return end.map { String(value[...$0]) } ?? ""
    }
}
