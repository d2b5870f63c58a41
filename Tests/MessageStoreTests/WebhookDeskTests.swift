import Foundation
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `What webhooks are told` {
    private static let key = WebhookKey(app: "shop", webhook: "w1")

    @Test func `is what happens from when one is made, of its kinds and its app alone, and no text`() async throws {
        let bench = try DeskBench()
        for app: AppID in ["shop", "club"] { try await bench.makeApp(app) }
        try await bench.say("before")
        #expect(try await bench.progress() == WebhookProgress())
        #expect(!bench.hasFile)
        try await bench.add("w1", [.messageAccepted, .messageRecalled])
        try await bench.add("w2", [.deviceSignedIn, .deviceSignedOut])
        try await bench.add("w3", [.messageAccepted], to: "club")
        let said = try await bench.say("unmistakable")
        let recalled = try await bench.say("unmistakable too")
        try await bench.recall(recalled)
        try await bench.say("elsewhere", app: "club")
        let phone = DeviceKey(user: bo, device: "phone")
        _ = try await bench.store.apply([.signIn(phone, platform: "ios", at: 7), .signOut(phone, at: 8)])
        try await bench.settle()
        try await bench.settle("w2")
        try await bench.settle("w3", of: "club")
        #expect(
            try bench.told("w1")
                == ["message_accepted \(said)", "message_accepted \(recalled)", "message_recalled \(recalled)"].sorted()
        )
        #expect(try bench.told("w2") == ["device_signed_in ", "device_signed_out "])
        #expect(try bench.told("w3", of: "club").count == 1)
        #expect(!bench.receiver.came.contains { $0.data.contains("unmistakable") })
        let first = try #require(bench.receiver.came.first { $0.at == 2_000 })
        #expect(
            try JSONValue(parsing: first.data) == [
                "message_id": .string(said.description), "kind": "message", "sender": "ada",
                "conversation": ["type": "PR", "type_name": "direct", "target": "bo"], "object_name": "RC:TxtMsg",
                "object_type": "text",
            ])
        #expect(Set(bench.receiver.came.map(\.id)).count == bench.receiver.came.count)
        #expect(bench.receiver.came.allSatisfy { !$0.id.contains(".") })
    }

    @Test func `leaves out what happens while one is not enabled, and goes with the last webhook`() async throws {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        try await bench.change(.set(id: "w1", WebhookEdit(isEnabled: false)))
        try await bench.say("unheard")
        try await bench.change(.set(id: "w1", WebhookEdit(isEnabled: true)))
        let heard = try await bench.say("heard")
        try await bench.settle()
        #expect(try bench.told("w1") == ["message_accepted \(heard)"])
        #expect(bench.hasFile)
        try await bench.change(.remove(id: "w1"))
        #expect(try await bench.progress() == WebhookProgress())
        #expect(!bench.hasFile)
    }

    @Test func `is told again under the same id until it arrives, also after a restart`() async throws {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        _ = try await bench.progress()
        bench.receiver.setDown(true)
        try await bench.say("one")
        while try await bench.progress().failedAt == nil { await Task.yield() }
        let failed = try await bench.progress()
        #expect(failed.failure == WebhookFailure(.status, status: 503) && failed.pending == 1)
        try await bench.reopen()
        bench.receiver.setDown(false)
        _ = try await bench.progress()
        #expect(bench.receiver.came.count == 1)
        bench.receiver.forward(by: 6_000)
        try await bench.settle()
        let came = bench.receiver.came
        #expect(came.count == 2 && came[0] == came[1])
        let after = try await bench.progress()
        #expect(after.deliveredAt == bench.receiver.now && after.pending == 0)
    }

    @Test func `is derived once, whenever the reader stops`() async throws {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        _ = try await bench.progress()
        var said: [MessageID] = []
        for number in 0..<5 {
            said.append(try await bench.say("\(number)"))
            try await bench.reopen()
            said.append(try await bench.say("\(number) again"))
        }
        try await bench.settle()
        // What was under way when it stopped comes twice, with one id.
        let ids = Set(bench.receiver.came.map(\.id))
        #expect(ids.count == said.count)
        #expect(Set(try bench.told("w1")) == Set(said.map { "message_accepted \($0)" }))
    }

    @Test func `begins anew at the end of a store that was restored, and says so`() async throws {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        let copy = bench.folder.path("copy.sqlite")
        try await bench.store.backUp(to: copy)
        let lost = try await bench.say("lost")
        try await bench.settle()
        try await bench.reopen {
            bench.folder.delete()
            try FileManager.default.copyItem(atPath: copy, toPath: bench.folder.path())
        }
        _ = try await bench.progress()
        #expect(bench.log.all.contains { $0.hasPrefix("warning webhooks begin at the end of the journal") })
        let said = try await bench.say("new")
        try await bench.settle()
        // Each once: neither what the backup has is told again, nor what was lost with the time after it.
        #expect(try bench.told("w1") == [lost, said].map { "message_accepted \($0)" }.sorted())
        #expect(Set(bench.receiver.came.map(\.id)).count == 2)
    }

    @Test func `is kept up to a bound of all, beyond which the oldest go, counted and named`() async throws {
        var rules = WebhookSchedule.Rules()
        (rules.heldInAllMax, rules.inFlightMax) = (5, 4)
        let bench = try DeskBench(rules: rules)
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        bench.receiver.setHanging()
        var said: [MessageID] = []
        for number in 1...8 { said.append(try await bench.say("\(number)")) }
        #expect(try await bench.progress().pending == 5)
        #expect(bench.receiver.dropped == 3)
        // Those under way stay, and so does what is new.
        #expect(try bench.told("w1") == said.prefix(4).map { "message_accepted \($0)" }.sorted())
        bench.desk.close()
        #expect(bench.log.all.contains { $0.hasPrefix("warning deliveries to a webhook were deleted undelivered") })
        try await bench.reopen()
        #expect(try await bench.progress().pending == 5)
        #expect(
            Set(try bench.told("w1")) == Set((said.prefix(4)).map { "message_accepted \($0)" }))
    }

    @Test func `is known of several webhooks in one answer`() async throws {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        try await bench.add("w2", [.receipt])
        try await bench.say("one")
        try await bench.settle()
        let keys = ["w2", "none", "w1"].map { WebhookKey(app: "shop", webhook: $0) }
        var delivered = WebhookProgress()
        delivered.deliveredAt = bench.receiver.now
        #expect(await bench.desk.progress(of: keys) == [WebhookProgress(), WebhookProgress(), delivered])
        #expect(await bench.desk.progress(of: []) == [])
    }

    @Test func `goes on in another file where the one is damaged, which is set aside`() async throws {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        try await bench.settle()
        let path = bench.folder.path("webhooks")
        try await bench.reopen {
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let size = try file.seekToEnd()
            try file.seek(toOffset: 100)
            try file.write(contentsOf: Data(repeating: 0xff, count: Int(size) - 100))
            try file.close()
        }
        // A question that comes upon the damage is answered by the next file.
        #expect(try await bench.progress() == WebhookProgress())
        #expect(bench.log.all.contains { $0.hasPrefix("error the file of webhooks is damaged, and was set aside") })
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
        let said = try await bench.say("after")
        try await bench.settle()
        #expect(try bench.told("w1") == ["message_accepted \(said)"])
    }

    @Test func `leaves another program's file alone`() async throws {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        try await bench.settle()
        let path = bench.folder.path("webhooks")
        try await bench.reopen {
            try Data("somebody else's".utf8).write(to: URL(fileURLWithPath: path))
        }
        let refused = await bench.desk.progress(of: Self.key)
        #expect(refused == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("somebody else's".utf8))
        #expect(bench.log.all.contains { $0.hasPrefix("error the file of webhooks cannot be used") })
    }
}

@Suite struct `A file of webhooks` {
    @Test func `knows after a crash which webhooks are gone and have still to be forgotten`() throws {
        let folder = try TemporaryFolder()
        let place = JournalPlace(store: "s", generation: 1, opening: 2, position: 3)
        let webhook = KnownWebhook(kinds: [.receipt, .legEnded], isEnabled: true)
        let key = WebhookKey(app: "shop", webhook: "w1")
        let occurrence = WebhookOccurrence(
            position: 3, number: 0, app: "shop", kind: .receipt, at: 7, data: ["a": 1], webhooks: ["w1"])
        var page = WebhookPage(known: ["shop": ["w1": webhook]], place: place)
        page.occurrences = [occurrence]
        var file = try WebhookFile(path: folder.path("webhooks"))
        #expect(try file.apply(page, now: 9).map(\.count) == [1])
        // Derived once more it is the same delivery.
        #expect(try file.apply(page, now: 9).isEmpty)
        file.close()
        file = try WebhookFile(path: folder.path("webhooks"))
        #expect(file.known == page.known && file.place == place)
        #expect(file.counts == [key: WebhookHeld(pending: 1, dead: 0)])
        _ = try file.apply(WebhookPage(known: [:], place: place), now: 9)
        file.close()
        file = try WebhookFile(path: folder.path("webhooks"))
        #expect(file.known == [:] && file.counts[key]?.pending == 1 && !file.isEmpty)
        try file.write { try file.forget(key, $0) }
        #expect(file.isEmpty && file.counts == [:])
        file.close()
    }
}

@Suite struct `A dead letter` {
    private static let key = WebhookKey(app: "shop", webhook: "w1")

    /// A webhook with this many of them.
    private static func bench(_ count: Int) async throws -> DeskBench {
        let bench = try DeskBench()
        try await bench.makeApp()
        try await bench.add("w1", [.messageAccepted])
        _ = try await bench.progress()
        bench.receiver.setDown(true)
        for number in 0..<count { try await bench.say("\(number)") }
        // Past each wait, and each pause between two probes.
        while try await bench.progress().dead < count {
            bench.receiver.forward(by: 60_000_000)
            await Task.yield()
        }
        return bench
    }

    @Test func `is told with why it died, newest first, and removed`() async throws {
        let bench = try await Self.bench(3)
        let all = try #require(await bench.desk.deadLetters(of: Self.key, before: nil, limit: 10))
        #expect(all.map(\.delivery.at) == [3_000, 2_000, 1_000])
        #expect(all.allSatisfy { $0.attempts == 8 && $0.failure == WebhookFailure(.status, status: 503) })
        let page = try #require(await bench.desk.deadLetters(of: Self.key, before: all[0].number, limit: 1))
        #expect(page == [all[1]])
        #expect(await bench.desk.removeDeadLetter(all[1].delivery.id, of: Self.key) == true)
        #expect(await bench.desk.removeDeadLetter(all[1].delivery.id, of: Self.key) == false)
        let other = WebhookKey(app: "club", webhook: "w1")
        #expect(await bench.desk.removeDeadLetter(all[0].delivery.id, of: other) == false)
        #expect(await bench.desk.deadLetters(of: other, before: nil, limit: 10) == [])
        #expect(try await bench.progress().dead == 2)
        #expect(bench.desk.totals.dead == 2)
    }

    @Test func `is sent again when it is asked for, and its attempts are counted on`() async throws {
        let bench = try await Self.bench(2)
        let all = try #require(await bench.desk.deadLetters(of: Self.key, before: nil, limit: 10))
        let first = all[0].delivery.id
        #expect(await bench.desk.retry([first, "none"], of: Self.key) == 1)
        bench.receiver.forward(by: 60_000)
        while try await bench.progress().dead < 2 { await Task.yield() }
        let again = try #require(await bench.desk.deadLetters(of: Self.key, before: nil, limit: 10))
        #expect(again.map(\.attempts) == [9, 8])
        bench.receiver.setDown(false)
        bench.receiver.forward(by: 60_000)
        #expect(await bench.desk.retry(nil, of: Self.key) == 2)
        try await bench.settle()
        #expect(try await bench.progress().dead == 0)
        #expect(bench.receiver.came.suffix(2).map(\.id).sorted() == all.map(\.delivery.id).sorted())
    }
}
