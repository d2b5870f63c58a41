/// People without an account: one for each installation of an app whose user has not signed in (docs/inside/decisions/0049-anonymous-people.md).
/// Their ids begin with `anon-`, which the server alone gives out.
extension UserID {
    package static let anonymousPrefix = "anon-"

    /// True if the id is of an anonymous person; nobody else has such an id.
    package var isAnonymous: Bool { self.rawValue.hasPrefix(Self.anonymousPrefix) }

    /// - Parameter bytes: 16, drawn at random.
    package static func anonymous(_ bytes: [UInt8]) -> UserID { UserID(Self.anonymousPrefix + Hexadecimal.text(bytes)) }
}
