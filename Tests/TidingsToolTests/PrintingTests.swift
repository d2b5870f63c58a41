import Foundation
import Testing
import TidingsModel

@testable import tidings

@Suite struct `What the tool prints` {
    /// Of a stranger: title, colours, cleared and made-up lines, turned text.
    private static let hostile = "x\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\r\n2026 signed in\u{85}\u{2028}\u{202e}\u{e0041}"

    private static func isHarmless(_ line: String) -> Bool { !line.unicodeScalars.contains(where: \.isUnprintable) }

    @Test func `goes through one function in every command`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Tool/tidings")
        let files = try #require(FileManager.default.enumerator(atPath: root.path))
        var looked = 0
        while let name = files.nextObject() as? String {
            guard name.hasSuffix(".swift"), name != "Support/Printing.swift" else { continue }
            looked += 1
            let text = try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let ways = [
                    "Swift.print", "debugPrint(", "FileHandle.standardOutput", "FileHandle.standardError", "fputs(",
                    "fwrite(", "putchar(", "dump(", "print(to:", "exit(withError",
                ]
                #expect(!ways.contains { line.contains($0) }, "\(name):\(number + 1)")
                // JSON goes through the function for JSON, or it might be none after.
                #expect(line.firstMatch(of: /print\([^"]*json[^"]*\.text\)/) == nil, "\(name):\(number + 1)")
            }
        }
        #expect(looked > 40)
    }

    @Test func `stands in columns as wide as what is printed`() {
        let lines = TextTable.lines([[Self.hostile, "a"], ["y", "b"]])
        #expect(lines.allSatisfy { Self.isHarmless($0) })
        #expect(lines[0].hasPrefix(#"x\u{1b}]0;t\u{7}"#))
        #expect(lines[1].count == lines[0].count)
    }

    @Test func `says at a terminal how long it may still take, and then how long it has taken`() {
        #expect(ProgressLine.text("waiting", usually: 26, passed: 5) == "waiting, 21 s left")
        #expect(ProgressLine.text("waiting", usually: 26, passed: 26) == "waiting, 26 s")
        #expect(ProgressLine.text("reading", usually: nil, passed: 0) == "reading, 0 s")
    }

    @Test func `is not steered where there is no terminal`() {
        let pipe = Pipe()
        let output = pipe.fileHandleForWriting.fileDescriptor
        #expect(!Terminal.hasCursor(output) && Terminal.columns(output) == 80)
    }

    @Test func `says what a server has refused in one line`() async throws {
        let refusal = HTTP.Refusal(
            status: 400, answer: ["detail": .string(Self.hostile), "code": "invalid_field"], of: "GET http://127.0.0.1/"
        )
        #expect(Self.isHarmless(refusal.description) && refusal.code == "invalid_field")
        #expect(Self.isHarmless(HTTP.Refusal(status: 502, answer: nil, of: "GET x").description))
    }

    @Test func `is YAML that is read as what it was, whatever is in it`() throws {
        let file = AppFile(id: "shop", settings: ["name": .string(Self.hostile)])
        #expect(file.yaml.allSatisfy { Self.isHarmless($0) })
        #expect(try AppFile(text: file.yaml.joined(separator: "\n")) == file)
    }
}
