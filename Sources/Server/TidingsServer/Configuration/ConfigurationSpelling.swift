/// Which names are keys of the configuration, and which were meant to be.
enum ConfigurationSpelling {
    /// Looking for what was meant takes time, and a file may have any number of keys.
    static let guessesMax = 20
    /// Letters of a name that are compared.
    private static let lengthMax = 100

    /// Variables that begin as the configuration's do and belong to something else: the tool, phones and their apps, and the tests.
    private static let others = Set(
        [
            "MASTER_KEY", "API", "API_KEY", "OPERATOR_KEY", "TOKEN", "TOKEN_SECRET", "PHONE_FACTS", "PHONE_SOCKET",
            "PHONE_TOKEN", "PHOTOS",
            "ABUSE", "API_CASES", "API_SEED", "CASES_PERCENT", "CHROMIUM", "CONSOLE_PROXY", "DISK_CONTROL", "DISK_FILE",
            "DISK_LOG", "FAULTS", "FIREFOX", "FLOOD_SECONDS", "FUZZ", "LIMITS", "MEASURE", "MUTANT", "ONLY",
            "PUSH_DEVICES",
            "SEED", "SEQUENCES", "TESTABLE", "TOOL", "UIKIT", "WORLD_SEEDS", "WRITE_DOCS",
        ].map { "TIDINGS_" + $0 })

    /// Such a variable, or one that Kubernetes sets in each container for a service called `tidings` or `tidings-…`
    /// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
    static func isOther(_ variable: String, _ value: String) -> Bool {
        self.others.contains(variable) || variable.contains(/_SERVICE_(HOST|PORT)|_PORT_\d+_(TCP|UDP|SCTP)/)
            || variable.hasSuffix("_PORT") && value.contains("://")
    }

    /// The variable of a key, as swift-configuration makes it.
    static func variable(of key: String) -> String {
        var name = "TIDINGS_"
        var before: Character?
        for character in key {
            if before?.isLowercase == true, character.isUppercase { name += "_" }
            name += character.isLetter || character.isNumber ? character.uppercased() : "_"
            before = character
        }
        return name
    }

    /// The known name that differs least, by a letter of five and three in all at most; nil if there is none.
    static func nearest(to name: String, in known: Set<String>) -> String? {
        let near = known.sorted().map { ($0, self.difference(of: $0.lowercased(), name.lowercased())) }
            .min { $0.1 < $1.1 }
        return near.flatMap { $0.1 <= min(3, name.count / 5) ? $0.0 : nil }
    }

    /// How many letters are to be put in, taken out or replaced (V. I. Levenshtein, 1965).
    private static func difference(of left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8.prefix(self.lengthMax)), Array(right.utf8.prefix(self.lengthMax)))
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
