import Foundation
import PhoneCore
import Testing
import TidingsModel

@testable import VirtualPhone

@Suite(.timeLimit(.minutes(5))) struct `A reader of a phone's events` {
    private static let app: BundleID = "com.example.screen"

    private static var executable: String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("ScreenApp").path
    }

    private func with(_ body: (PhoneHost) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let host = try PhoneHost(
            configuration: PhoneHost.Configuration(
                phoneID: "p1", folder: folder.path,
                apps: [
                    PhoneHost.App(
                        installed: InstalledApp(
                            bundleID: Self.app, lifecycle: .application, methods: .modern, hasServiceExtension: false),
                        executable: Self.executable)
                ]))
        try await host.start()
        do { try await body(host) } catch {
            await host.stop()
            throw error
        }
        await host.stop()
    }

    /// Everything up to the first views that hold a text, as a reader gets it who takes so many lines at a time.
    private func read(
        _ host: PhoneHost, from start: PhoneHost.ReadingStart, linesMax: Int, until text: String
    ) async throws -> (numbers: [Int], next: PhoneHost.ReadingPlace) {
        let news = host.news()
        var place = try await host.readingPlace(start)
        var numbers: [Int] = []
        var iterator = news.makeAsyncIterator()
        while true {
            let (lines, views, next) = try await host.page(after: place, linesMax: linesMax)
            #expect(lines.count <= linesMax)
            // What is shown stands behind the lines: who is slow does not read what is gone.
            #expect(views.isEmpty || next.line >= (lines.last?.number ?? 0))
            numbers += lines.map(\.number)
            place = next
            if views.contains(where: { $0.text.contains(text) }) { return (numbers, place) }
            if lines.isEmpty, views.isEmpty { await iterator.next() }
        }
    }

    @Test(arguments: [1, 1_000]) func `reads all lines in their order, and then what is shown`(linesMax: Int)
        async throws
    {
        try await self.with { host in
            try await host.perform(.launch(Self.app))
            let (numbers, next) = try await self.read(host, from: .last(1_000), linesMax: linesMax, until: "0 taps")
            #expect(numbers.count > 3 && numbers == Array(1...numbers.count))
            // It goes on from there, and what is shown is not told again.
            let more = try await host.page(after: next, linesMax: 1_000)
            #expect(more.lines.allSatisfy { $0.number > next.line } && more.views == [])
        }
    }

    @Test func `begins where it says, or with the newest where the phone has been started anew`() async throws {
        try await self.with { host in
            for _ in 0..<5 { try await host.perform(.push(Self.push)) }
            let last = try await host.readingPlace(.last(0)).line
            #expect(last >= 5)
            #expect(try await host.readingPlace(.last(2)).line == last - 2)
            #expect(try await host.readingPlace(.last(1_000_000)).line == 0)
            #expect(try await host.readingPlace(.after(3)).line == 3)
            #expect(try await host.readingPlace(.after(-3)).line == 0)
            #expect(try await host.readingPlace(.after(last)).line == last)
            #expect(try await host.readingPlace(.after(last + 1)).line == max(0, last - 400))
        }
    }

    private static let push: Push = {
        let payload: JSONValue = ["aps": ["alert": "hi"]]
        return Push(delivery: 0, topic: "com.example.screen", payload: payload.objectValue ?? JSONObject())
    }()

    @Test func `is told of what comes, and of the end`() async throws {
        try await self.with { host in
            let news = host.news()
            try await host.perform(.push(Self.push))
            var iterator = news.makeAsyncIterator()
            #expect(await iterator.next() != nil)
            await host.stop()
            while await iterator.next() != nil {}
            await #expect(throws: InvalidField.self) { try await host.readingPlace(.last(1)) }
        }
    }
}
