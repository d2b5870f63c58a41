import TidingsModel

extension JSONFields {
    /// The JSON object of a request to the control port; nothing at all counts as `{}`.
    ///
    /// - Throws: `InvalidField` for `body`, or for a member that is not named.
    init(control bytes: [UInt8], only names: [String]) throws(InvalidField) {
        try self.init(parsing: bytes.isEmpty ? Array("{}".utf8) : bytes, depthMax: 8)
        try self.only(names)
    }

    /// The member `environments`; all of them if it is missing.
    func environments() throws(InvalidField) -> [PushEnvironment] {
        guard let environments: [PushEnvironment] = try self.given("environments") else {
            return PushEnvironment.allCases
        }
        guard !environments.isEmpty else { throw InvalidField(field: "environments", rule: "must not be empty") }
        return environments
    }
}
