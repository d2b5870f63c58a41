/// Which names are keys of the configuration, and which were meant to be.
enum ConfigurationSpelling {
    /// Looking for what was meant takes time, and a file may have any number of keys.
    static let guessesMax = 20

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
}
