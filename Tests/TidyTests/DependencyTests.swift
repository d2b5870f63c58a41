import Foundation
import Testing

/// What the server is built from (docs/decisions/0054-phones-in-the-console.md).
@Suite struct `The server` {
    /// Names of targets that a `shell` or `core` of the manifest needs, without what its tests need.
    private static func dependencies(in manifest: String) throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        // A declaration goes on until its parentheses are closed; `testing:` and what follows is of the tests.
        for part in manifest.components(separatedBy: "targets += ").dropFirst() {
            guard let open = part.firstIndex(of: "("), let end = Self.closing(part, from: open) else { continue }
            let kind = part[..<open].trimmingCharacters(in: .whitespacesAndNewlines)
            guard kind == "core" || kind == "shell" else { continue }
            let own = part[open...end].components(separatedBy: "testing:")[0]
            let pieces = own.components(separatedBy: "\"")
            let words = pieces.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            // Wing and name; in a loop over names there is none.
            guard words.count >= 2, pieces[2].trimmingCharacters(in: .whitespacesAndNewlines) == "," else { continue }
            found[words[1]] = Set(words.dropFirst(2))
        }
        return found
    }

    private static func closing(_ text: String, from open: String.Index) -> String.Index? {
        var depth = 0
        for index in text[open...].indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    private static func reached(from target: String, _ dependencies: [String: Set<String>]) -> Set<String> {
        var reached: Set<String> = [target]
        var waiting = [target]
        while let next = waiting.popLast() {
            for name in dependencies[next] ?? [] where reached.insert(name).inserted { waiting.append(name) }
        }
        return reached
    }

    /// By the folder Sources/Phone.
    private static var phoneTargets: Set<String> {
        Set(Tree.swift.filter { $0.path.hasPrefix("Sources/Phone/") }.compactMap(\.target))
    }

    @Test func `has no code of phones in anything that it is built from`() throws {
        let dependencies = try Self.dependencies(in: try Tree.text("Package.swift"))
        let server = Self.reached(from: "TidingsServer", dependencies)
        #expect(server.isSuperset(of: ["TidingsServer", "ServerCore", "MessageStore", "APNsClient", "Console"]))
        #expect(Self.phoneTargets.isSuperset(of: ["PhoneCore", "VirtualPhone", "UIKit", "PhoneTerminal"]))
        #expect(server.intersection(Self.phoneTargets) == [])
        // Otherwise nothing would be found of what it says.
        #expect(Self.reached(from: "VirtualPhone", dependencies).isSuperset(of: ["VirtualPhone", "PhoneCore"]))
        for source in Tree.swift where source.target.map(server.contains) == true && source.path.hasPrefix("Sources/") {
            for phone in Self.phoneTargets {
                #expect(!source.text.contains("import \(phone)\n"), "\(source.path) imports \(phone)")
            }
        }
    }

    @Test func `would be found to have some`() throws {
        let manifest = """
            targets += core("Phone", "PhoneCore", needs: ["TidingsModel"])
            targets += shell("Phone", "VirtualPhone", needs: ["PhoneCore"], uses: ["NIOCore"], testing: ["ScreenApp"])
            targets += shell(
                "Server", "TidingsServer",
                needs: ["StoreModel", "VirtualPhone"], testing: ["TidingsClient"])
            """
        let dependencies = try Self.dependencies(in: manifest)
        #expect(
            Self.reached(from: "TidingsServer", dependencies)
                == ["TidingsServer", "StoreModel", "VirtualPhone", "PhoneCore", "NIOCore", "TidingsModel"])
    }
}
