import Console
import Foundation
import Testing

@Suite struct `The files of the console` {
    private static let pages = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/Server/Console/Pages")

    @Test func `are those of its folder, byte for byte`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path)
        #expect(ConsoleFile.all.map(\.name) == names.sorted())
        for file in ConsoleFile.all {
            let bytes = try Data(contentsOf: Self.pages.appendingPathComponent(file.name))
            #expect(file.bytes == Array(bytes), "\(file.name)")
        }
    }

    @Test func `are of known kinds, and there is a page to begin with`() {
        for file in ConsoleFile.all { #expect(file.contentType != nil, "\(file.name)") }
        #expect(ConsoleFile.all.contains { $0.name == "index.html" })
    }
}
