/// The plan of the house, as docs/concepts.md draws it.
enum House {
    /// The pure targets. One place; a test holds that the manifest declares the same ones.
    static let cores: Set<String> = [
        "TidingsModel", "APNsModel", "APNsCore", "APNsClientCore", "StoreModel", "ServerCore", "PhoneCore",
        "ClientCore", "SimulatedPhone", "SimulatedServer", "World", "ScenarioCore",
    ]

    /// The core that has a package product: the generated protocol types need a runtime (design.md §2).
    static let wireCore = "TidingsWire"

    /// What a core may import besides other cores: containers whose order is defined.
    static let containers: Set<String> = ["DequeModule", "OrderedCollections", "HeapModule"]

    /// Targets shaped like Apple's modules: the members mean what Apple's documentation says.
    static let facades: Set<String> = [
        "UIKit", "UserNotifications", "UserNotificationsUI", "AudioToolbox", "BackgroundTasks", "CallKit", "Intents",
        "PushKit",
        "KeychainServices", "URLSessionWebSocket",
    ]

    static func isCore(_ target: String?) -> Bool {
        guard let target else { return false }
        return Self.cores.contains(target) || target == Self.wireCore
    }

    /// The names of the targets that a manifest declares with its `core(` helper.
    static func cores(declaredIn manifest: String) -> Set<String> {
        let tokens = SwiftLexer.tokens(of: manifest).filter { $0.kind != .comment }
        var found: Set<String> = []
        for index in tokens.indices.dropLast(5)
        where tokens[index].is("core") && tokens[index + 1].is("(") && tokens[index + 2].kind == .string
            && tokens[index + 3].is(",") && tokens[index + 4].kind == .string
        {
            found.insert(String(tokens[index + 4].text.dropFirst().dropLast()))
        }
        return found
    }

    /// The parameter names of the manifest's `core(` helper.
    static func coreHelperParameters(in manifest: String) -> [String] {
        let tokens = SwiftLexer.tokens(of: manifest).filter { $0.kind != .comment }
        guard
            let start = tokens.indices.dropLast(2).first(where: {
                tokens[$0].is("func") && tokens[$0 + 1].is("core") && tokens[$0 + 2].is("(")
            })
        else { return [] }
        var names: [String] = []
        var depth = 0
        for index in tokens.indices[(start + 2)...] {
            if tokens[index].is("(") || tokens[index].is("[") { depth += 1 }
            if tokens[index].is(")") || tokens[index].is("]") { depth -= 1 }
            if depth == 0 { break }
            if depth == 1, tokens[index].is(":") { names.append(tokens[index - 1].text) }
        }
        return names
    }
}
