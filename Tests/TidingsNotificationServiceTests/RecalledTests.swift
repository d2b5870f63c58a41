import ClientCore
import Foundation
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications
import VirtualPhone

@testable import TidingsNotificationService

/// What a content handler was called with, in the order of the calls.
private final class Answers: Sendable {
    struct Answer: Equatable {
        var title: String
        var body: String
        var badge: Int?
        var isQuiet: Bool
        var images: Int
    }

    private let stream = AsyncStream.makeStream(of: Answer.self)

    func add(_ content: UNNotificationContent) {
        self.stream.continuation.yield(
            Answer(
                title: content.title, body: content.body, badge: content.badge?.intValue,
                isQuiet: content.sound == nil && content.interruptionLevel == .passive,
                images: content.attachments.count))
    }

    /// The first so many.
    func first(_ count: Int) async -> [Answer] {
        var answers: [Answer] = []
        for await answer in self.stream.stream {
            answers.append(answer)
            if answers.count == count { break }
        }
        return answers
    }

    static func recall(badge: Int) -> Answer {
        Answer(title: "", body: "A message was recalled", badge: badge, isQuiet: true, images: 0)
    }
}

// Two runs of the extension overlap, or the app hears of a recall while one is at work; over the real files of the app group.
@Suite struct `A message that is recalled while the extension is at work on it` {
    /// The app group's number goes with the pushes': 3 with the message, 2 after its recall.
    private func bench() throws -> HandlerBench {
        let bench = try HandlerBench()
        try bench.group.update { $0.badge = Badge(server: 3, position: 11) }
        return bench
    }

    @Test func `is answered as recalled, though its own answer comes last`() async throws {
        let bench = try self.bench()
        let answers = Answers()
        let handler = bench.handler()
        bench.web.meanwhile {
            // The receipt of the message is under way. A recall has none, and is answered at once.
            _ = try? bench.group.update { $0.badge?.pushed(absolute: 2, position: 12) }
            handler.didReceive(bench.push(1, position: 12, isRecall: true)) { answers.add($0) }
        }
        handler.didReceive(bench.push(1)) { answers.add($0) }
        #expect(await answers.first(2) == [.init(recall: 2), .init(recall: 2)])
    }

    @Test func `is answered as recalled when the time is up`() async throws {
        let bench = try self.bench()
        bench.web.beSilent()
        let answers = Answers()
        let handler = bench.handler()
        handler.didReceive(bench.push(1)) { answers.add($0) }
        handler.didReceive(bench.push(1, position: 12, isRecall: true)) { answers.add($0) }
        handler.serviceExtensionTimeWillExpire()
        #expect(await answers.first(2) == [.init(recall: 3), .init(recall: 3)])
    }

    @Test func `is answered as recalled when the app has heard of it, without the image that has come`()
        async throws
    {
        let bench = try self.bench()
        let url = "https://files.example.com/cat"
        bench.web.put(Data([0xff, 0xd8, 0xff, 0xe0]) + Data(repeating: 7, count: 100), at: url)
        let group = bench.group
        bench.web.meanwhile {
            _ = try? group.update { contents in
                contents.ledger.markRecalled(MessageID(rawValue: 1), by: .kit(process: 1), wall: 0)
                contents.badge?.posted(unread: 0, position: 12)
            }
        }
        let answers = Answers()
        let handler = bench.handler()
        handler.didReceive(bench.push(1, image: url)) { answers.add($0) }
        #expect(await answers.first(1) == [.init(recall: 0)])
        withExtendedLifetime(handler) {}
    }

    @Test func `is not shown at all where the extension may filter`() async throws {
        let bench = try self.bench()
        bench.web.beSilent()
        let answers = Answers()
        let handler = bench.handler(isFilteringEntitled: true)
        handler.didReceive(bench.push(1)) { answers.add($0) }
        try bench.group.update { contents in
            contents.ledger.markRecalled(MessageID(rawValue: 1), by: .pushExtension, wall: 0)
            contents.badge?.pushed(absolute: 2, position: 12)
        }
        handler.serviceExtensionTimeWillExpire()
        let nothing = Answers.Answer(title: "", body: "", badge: 2, isQuiet: false, images: 0)
        #expect(await answers.first(1) == [nothing])
    }

    @Test func `stays recalled when its push comes once more`() async throws {
        let bench = try self.bench()
        let answers = Answers()
        let handler = bench.handler()
        handler.didReceive(bench.push(1, position: 12, isRecall: true)) { answers.add($0) }
        handler.didReceive(bench.push(1)) { answers.add($0) }
        #expect(await answers.first(2) == [.init(recall: 3), .init(recall: 3)])
        // Nobody has seen it.
        #expect(bench.web.sent.filter { $0.method == "POST" } == [])
        withExtendedLifetime(handler) {}
    }
}

extension Answers.Answer {
    fileprivate init(recall badge: Int) { self = Answers.recall(badge: badge) }
}

@Suite struct `A push of another message while the extension is at work` {
    @Test func `leaves the newest number on the icon, whichever is answered last`() async throws {
        let bench = try HandlerBench()
        let answers = Answers()
        let group = bench.group
        bench.web.meanwhile { _ = try? group.update { $0.badge?.pushed(absolute: 4, position: 12) } }
        let handler = bench.handler()
        handler.didReceive(bench.push(1)) { answers.add($0) }
        #expect(await answers.first(1).map(\.badge) == [4])
        withExtendedLifetime(handler) {}
    }
}

extension `A service extension with the handler` {
    @Test func `posts nothing of what is recalled while it is fetched, and does not fetch again`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn(token: "t")
        Service.web.answer("/v1/extension/missed", with: ["entries": [entry(11, 1), entry(12, 2)]])
        let group = try await bench.group()
        Service.web.meanwhile {
            _ = try? group.update {
                $0.ledger.markRecalled(MessageID(rawValue: 1), by: .kit(process: 1), wall: 0)
            }
        }
        await bench.push(3, position: 13, badge: 3, bseq: 13)
        let list = bench.phone.screen.list.map(\.notification.request.identifier)
        #expect(Set(list) == Set((UInt64(2)...3).map { MessageID(rawValue: $0).description }))
        #expect(try group.update { $0.recipient?.position } == 13)
    }

    @Test func `tells the server of all it has fetched in one request, however slow that is`() async throws {
        let bench = await ServiceBench()
        try await bench.signIn(token: "t")
        let missed = (11...30).map { entry(Int64($0), UInt64($0)) }
        Service.web.answer("/v1/extension/missed", with: ["entries": .array(missed)])
        // No receipt is answered: each request takes all the time it has.
        await bench.push(31, position: 31, bseq: 31)
        #expect(bench.phone.screen.list.count == 21)
        let receipts = Service.web.sent.filter { $0.method == "POST" }
        let ids = try receipts.map { try JSONValue(parsing: $0.body)["message_ids"]?.arrayValue?.count }
        #expect(ids.count == 2)
        #expect(ids.compactMap { $0 } == [20])
        let waited = Service.web.sent.map(\.seconds).reduce(0, +)
        #expect(waited <= 12, "of the thirty seconds an extension has")
    }
}
