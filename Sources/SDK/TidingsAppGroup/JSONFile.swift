import TidingsModel

/// A file with one JSON object, replaced as a whole and parsed again only when it has changed. Used under the lock
/// only.
struct JSONFile<Value: Equatable> {
    let path: String
    private let parse: (JSONValue) -> Value?
    private var known: (stamp: SmallFile.Stamp, value: Value)?

    private static var bytesMax: Int { 262_144 }

    init(_ path: String, parse: @escaping (JSONValue) -> Value?) {
        self.path = path
        self.parse = parse
    }

    /// - Parameter isDamaged: set if the file could not be understood and was set aside.
    mutating func read(isDamaged: inout Bool) throws(FileFault) -> Value? {
        guard let file = try SmallFile(self.path, creating: false) else { return nil }
        let stamp = try file.stamp
        if let known = self.known, known.stamp == stamp { return known.value }
        let bytes = try file.read(at: 0, count: min(stamp.size, Self.bytesMax))
        guard let json = try? JSONValue(parsing: bytes), let value = self.parse(json) else {
            isDamaged = true
            try SmallFile.setAside(self.path)
            return nil
        }
        self.known = (stamp, value)
        return value
    }

    func write(_ json: JSONValue) throws(FileFault) { try SmallFile.replace(self.path, with: json.serialized) }
}
