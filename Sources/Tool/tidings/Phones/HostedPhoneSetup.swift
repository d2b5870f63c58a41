import PhoneCore
import ScenarioCore
import TidingsModel

/// With what a phone of `tidings phones` is started.
struct HostedPhoneSetup: Equatable, Sendable {
    /// Its name, also at the local APNs and of its folder.
    var id: String
    /// Whose phone it is.
    var user: String
    var version: OSVersion = 17
    var lifecycle: LifecycleStyle?
    var delegate = PhoneApp.Delegate.modern
    /// Nil for all that go with `delegate`.
    var methods: DelegateMethods?

    static let idLengthMax = 64

    /// The style that goes with the delegate methods, unless one is given.
    var style: LifecycleStyle { self.lifecycle ?? (self.delegate == .legacy ? .application : .scenes) }

    /// `NAME` or `NAME,ios=15,user=bob,lifecycle=application,delegate=legacy`; also `implements=willPresent+didReceive`.
    ///
    /// - Throws: `InvalidField` naming the member that is wrong.
    init(_ text: String) throws(InvalidField) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        var members: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, members[pair[0]] == nil else {
                throw InvalidField(
                    field: "phone", rule: "must be NAME or NAME,ios=15,user=bob with each once, got \"\(text)\"")
            }
            members[pair[0]] = pair[1]
        }
        let methods = members.removeValue(forKey: "implements")
        try self.init(id: parts.first ?? "", members: members)
        if let methods { self.methods = try Self.methods(methods.split(separator: "+").map(String.init)) }
    }

    /// - Throws: `InvalidField` naming the member that is missing, wrong or unknown.
    init(json fields: JSONFields) throws(InvalidField) {
        try fields.only(["id"] + Self.names + ["implements"])
        let id: String = try fields.get("id")
        var members: [String: String] = [:]
        for name in Self.names { members[name] = try fields.optional(name, as: String.self) }
        try self.init(id: id, members: members)
        self.methods = try fields.optional("implements", as: [String].self).map(Self.methods)
    }

    private static let names = ["user", "ios", "lifecycle", "delegate"]

    private init(id: String, members: [String: String]) throws(InvalidField) {
        guard Self.isName(id) else {
            throw InvalidField(
                field: "id", rule: "must be 1 to \(Self.idLengthMax) letters, digits, - and _, got \"\(id)\"")
        }
        for name in members.keys.sorted() where !Self.names.contains(name) {
            throw InvalidField(field: name, rule: "is not one of \(Self.names.joined(separator: ", "))")
        }
        self.id = id
        self.user = members["user"] ?? id
        _ = try UserID.validated(self.user, field: "user")
        if let ios = members["ios"] {
            guard let version = OSVersion(ios) else {
                throw InvalidField(field: "ios", rule: "must be a version such as 17 or 17.4, got \"\(ios)\"")
            }
            self.version = version
        }
        self.lifecycle = try Self.word(members["lifecycle"], "lifecycle", LifecycleStyle.self)
        self.delegate = try Self.word(members["delegate"], "delegate", PhoneApp.Delegate.self) ?? .modern
    }

    private static func methods(_ words: [String]) throws(InvalidField) -> DelegateMethods {
        var methods: DelegateMethods = []
        for word in words {
            guard let method = MethodWords.method(named: word), !methods.contains(method) else {
                throw InvalidField(
                    field: "implements",
                    rule: "must have each once of \(MethodWords.words.joined(separator: ", ")), got \"\(word)\"")
            }
            methods.insert(method)
        }
        return methods
    }

    /// It is a folder's name, and stands in addresses.
    private static func isName(_ text: String) -> Bool {
        (1...Self.idLengthMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ text: String?, _ field: String, _: Word.Type
    ) throws(InvalidField) -> Word? where Word.RawValue == String {
        guard let text else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidField(field: field, rule: "must be one of \(words), got \"\(text)\"")
        }
        return word
    }
}
