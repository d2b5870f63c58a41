import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

/// What is written, changed and taken back, as plainly as can be.
private struct Said {
    var id: MessageID
    var app: AppID
    var words: [String]
    var isRecalled = false

    /// Whether all terms are found: Latin ones begin a word, others stand together where no Latin word is between them.
    func has(_ terms: [String]) -> Bool {
        var runs = [""]
        for word in self.words {
            if Self.isLatin(word) { runs.append("") } else { runs[runs.count - 1] += word }
        }
        return terms.allSatisfy { term in
            Self.isLatin(term) ? self.words.contains { $0.hasPrefix(term) } : runs.contains { $0.contains(term) }
        }
    }

    private static func isLatin(_ word: String) -> Bool { word.utf8.allSatisfy { $0 < 128 } }
}

@Suite struct `A search index that is killed and opened again` {
    private static let vocabulary = ["tea", "team", "teams", "north", "no", "北京", "京北", "天气", "明天北京"]
    private static let questions = [["te"], ["team"], ["no"], ["北京"], ["天"], ["tea", "北"], ["teams", "no"], ["京北"]]

    @Test(.timeLimit(.minutes(5)), arguments: UInt64(1)...12)
    func `finds what plain looking finds, wherever it stopped`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int {
            range.lowerBound + Int(random.next() % UInt64(range.count))
        }
        var store = MessageStoreConfiguration()
        store.journalRowBytes = number(1...2) == 1 ? 60 : 4_000
        let bench = try SearchBench(SearchBench.configuration, store)
        var said: [Said] = []
        for _ in 1...6 {
            for _ in 1...number(1...30) {
                let words = (1...number(1...4)).map { _ in Self.vocabulary[number(0...8)] }
                let text = words.joined(separator: " ")
                switch number(1...10) {
                case 1...6:
                    let app: AppID = number(1...3) == 1 ? "cafe" : "shop"
                    said.append(Said(id: try await bench.say(text, app: app), app: app, words: words))
                case 7...8 where !said.isEmpty:
                    let place = number(0...(said.count - 1))
                    guard !said[place].isRecalled, said[place].words != words else { continue }
                    try await bench.edit(said[place].id, text, app: said[place].app)
                    said[place].words = words
                default:
                    guard !said.isEmpty else { continue }
                    let place = number(0...(said.count - 1))
                    guard !said[place].isRecalled else { continue }
                    try await bench.recall(said[place].id, app: said[place].app)
                    said[place].isRecalled = true
                }
            }
            // Stops behind any page.
            var killed = SearchBench.configuration
            let pages = number(0...5)
            killed.bounds.recordsMax = number(1...7)
            killed.following.readMax = pages
            try bench.reopenIndex(killed)
            _ = await bench.index.settle()
            var whole = SearchBench.configuration
            whole.bounds.recordsMax = number(1...500)
            try bench.reopenIndex(whole)
            for app: AppID in ["shop", "cafe"] {
                for terms in Self.questions {
                    let expected = said.filter { $0.app == app && !$0.isRecalled && $0.has(terms) }.map(\.id)
                    let question = MessageQuestion(
                        app: app, text: terms.joined(separator: " "), limit: number(1...9))
                    #expect(try await bench.found(question).map(\.id) == expected.reversed(), "\(terms) in \(app)")
                }
            }
            #expect(bench.index.progress.messages == said.count { !$0.isRecalled })
        }
    }
}

@Suite struct `The file of a search index` {
    private static let none = "notice the search index is built anew: there is none"

    @Test func `is its owner's alone, and is made from the journal where there is none`() async throws {
        let bench = try SearchBench()
        let id = try await bench.say("word")
        #expect(try await bench.texts("word") == ["word"])
        let mode = try FileManager.default.attributesOfItem(atPath: bench.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try bench.reopenStore()
        #expect(try await bench.texts("word") == ["word"])
        #expect(bench.log.all == [Self.none])
        try bench.reopenIndex { DerivedFile.remove(path: $0) }
        #expect(try await bench.texts("word") == ["word"])
        #expect(bench.log.all == [Self.none, Self.none])
        // From the start also what was taken away by then.
        try await bench.recall(id)
        try bench.reopenIndex { DerivedFile.remove(path: $0) }
        #expect(try await bench.texts("word") == [])
    }

    @Test func `is built anew for another store`() async throws {
        let bench = try SearchBench()
        for number in 1...5 { try await bench.say("word \(number)") }
        #expect(await bench.index.settle())
        try bench.reopenStore { folder in
            folder.delete()
            try? FileManager.default.removeItem(atPath: folder.path() + ".state")
        }
        try await bench.say("other word")
        #expect(try await bench.texts("word") == ["other word"])
        let reason = "warning the search index is built anew: the store was restored, or is another one"
        #expect(bench.log.all == [Self.none, reason])
    }

    @Test func `is built anew for a store that was restored`() async throws {
        let bench = try SearchBench()
        try await bench.say("word 1")
        let copy = bench.folder.path("copy.sqlite")
        try await bench.store.backUp(to: copy)
        try await bench.say("word 2")
        try await bench.say("word 3")
        #expect(try await bench.texts("word") == ["word 3", "word 2", "word 1"])
        try bench.reopenStore { folder in
            folder.delete()
            try FileManager.default.copyItem(atPath: copy, toPath: folder.path())
        }
        // As many records as before, and others.
        try await bench.say("word 4")
        try await bench.say("word 5")
        #expect(try await bench.texts("word") == ["word 5", "word 4", "word 1"])
        #expect(bench.log.all.count == 2)
    }

    @Test(.timeLimit(.minutes(2)), arguments: [1, 2, 3, 4, 5, 6]) func `is built anew where it is damaged`(seed: UInt64)
        async throws
    {
        let bench = try SearchBench()
        for number in 1...300 { try await bench.say("word\(number) \(number % 7) 明天北京") }
        #expect(await bench.index.settle())
        try bench.reopenIndex { path in
            // The end cut off, everything overwritten, or everything behind the first page.
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let size = try file.seekToEnd()
            var random = SplitMix64(seed: seed)
            switch seed {
            case 1: try file.truncate(atOffset: 8_192)
            case 2: try file.truncate(atOffset: 50)
            case 3: try file.truncate(atOffset: 0)
            default:
                for page in 0..<(size / 4_096) where page > 0 || seed == 4 {
                    // Of the first page all but its head, by which the file is known.
                    let kept: UInt64 = page == 0 ? 100 : 0
                    try file.seek(toOffset: page * 4_096 + kept)
                    try file.write(contentsOf: (kept..<4_096).map { _ in UInt8(truncatingIfNeeded: random.next()) })
                }
            }
            try file.close()
        }
        // A question that comes upon the damage may be told to come again.
        while (try? await bench.texts("word300")) != ["word300 6 明天北京"] {
            try await Task.sleep(for: .milliseconds(5))
        }
        try await bench.say("one word more")
        #expect(try await bench.texts("more") == ["one word more"])
        #expect(try await bench.texts("明天").count == 300)
        #expect(bench.log.all.count { $0.contains("the search index is built anew: ") } == 2, "\(bench.log.all)")
        #expect(!bench.log.all.contains { $0.hasPrefix("critical") })
    }

    @Test(arguments: ["a text of somebody's, which is no database at all and has more than seventy-two bytes", ""])
    func `is nobody else's`(text: String) async throws {
        let bench = try SearchBench()
        try await bench.say("word")
        #expect(await bench.index.settle())
        var before = Data(text.utf8)
        try bench.reopenIndex { path in
            DerivedFile.remove(path: path)
            if text.isEmpty {
                let other = try DatabaseQueue(path: path)
                try other.write { try $0.execute(sql: "PRAGMA application_id = 77; CREATE TABLE a (b)") }
                try other.close()
                before = try Data(contentsOf: URL(fileURLWithPath: path))
            } else {
                try before.write(to: URL(fileURLWithPath: path))
            }
        }
        await #expect(throws: MessageSearchFault.unavailable) {
            try await bench.find(MessageQuestion(app: "shop", text: "word", limit: 1))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path)) == before)
        #expect(bench.log.all.last == "error the search index cannot be used: it is another program's file")
        try await bench.say("the store goes on")
        try FileManager.default.removeItem(atPath: bench.path)
        while (try? await bench.texts("goes")) != ["the store goes on"] {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `that cannot grow keeps nothing else from going on`() async throws {
        var configuration = SearchBench.configuration
        configuration.following.pagesMax = 20
        let bench = try SearchBench(configuration)
        for number in 1...400 { try await bench.say("word\(number) of many different\(number) ones") }
        while !bench.log.all.contains(where: { $0.hasPrefix("error ") }) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(bench.log.all.contains { $0.contains("full") }, "\(bench.log.all)")
        try await bench.say("the store goes on")
        try bench.reopenIndex()
        #expect(try await bench.texts("goes") == ["the store goes on"])
        #expect(try await bench.texts("different399") == ["word399 of many different399 ones"])
    }

    @Test func `holds none of the words that were taken back`() async throws {
        let bench = try SearchBench()
        var ids: [MessageID] = []
        for number in 1...200 { ids.append(try await bench.say("stays\(number)x secret\(number)x 绝密\(number)")) }
        #expect(await bench.index.settle())
        let secrets = (1...200).map { "secret\($0)x" }
        #expect(try bench.inFile(secrets) == secrets)
        for number in 1...200 {
            if number % 2 == 0 {
                try await bench.edit(ids[number - 1], "stays\(number)x now\(number)x")
            } else {
                try await bench.recall(ids[number - 1])
            }
        }
        // Written and taken back between two looks: never in the file at all.
        let brief = try await bench.say("brief1x")
        try await bench.recall(brief)
        #expect(await bench.index.settle())
        #expect(try bench.inFile(secrets + ["brief1x", "绝密"]) == [])
        #expect(try bench.inFile(["stays2x", "now200x"]) == ["stays2x", "now200x"])
        #expect(try bench.inFile((1...200).filter { $0 % 2 == 1 }.map { "stays\($0)x" }) == [])
        #expect(try await bench.texts("now").count == 100)
    }

    @Test func `loses what was taken back by itself once the time is over, also over a crash`() async throws {
        var configuration = SearchBench.configuration
        configuration.eraseMilliseconds = 20
        let bench = try SearchBench()
        let id = try await bench.say("secret1x")
        try await bench.say("stays1x")
        #expect(await bench.index.settle())
        try await bench.recall(id)
        #expect(try await bench.texts("secret1x") == [])
        // Its time is not over, and it is killed.
        #expect(try bench.inFile(["secret1x"]) == ["secret1x"])
        try bench.reopenIndex(configuration)
        while try bench.inFile(["secret1x"]) != [] { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await bench.texts("stays1x") == ["stays1x"])
    }

    @Test func `goes on behind a record that cannot be read`() async throws {
        var store = MessageStoreConfiguration()
        store.journalRowBytes = 1
        let bench = try SearchBench(SearchBench.configuration, store)
        for number in 1...9 { try await bench.say("word \(number)") }
        #expect(try await bench.texts("word").count == 9)
        try bench.reopenStore { folder in
            let queue = try DatabaseQueue(path: folder.path())
            try queue.write { try $0.execute(sql: "UPDATE journal SET records = x'01ff' WHERE position = 4") }
            try queue.close()
            DerivedFile.remove(path: folder.path("search.sqlite"))
        }
        #expect(try await bench.texts("word") == [9, 8, 7, 6, 5, 3, 2, 1].map { "word \($0)" })
    }

    @Test func `answers nothing any more once it is closed`() async throws {
        let bench = try SearchBench()
        bench.index.close()
        await #expect(throws: MessageSearchFault.unavailable) {
            try await bench.find(MessageQuestion(app: "shop", text: "word", limit: 1))
        }
        #expect(await !bench.index.settle())
    }
}
