import Testing
import TidingsModel

@testable import StoreModel

@Suite struct `A webhook` {
    private static let secret = SealedBytes(keyID: "m1", bytes: [1, 2, 3])
    private static let another = SealedBytes(keyID: "m1", bytes: [4, 5, 6])

    private static func record(
        _ id: String = "w1", _ name: String = "Orders", _ url: String = "https://example.com/hook",
        _ kinds: [WebhookEventKind] = [.receipt, .legEnded, .receipt]
    ) -> WebhookRecord {
        WebhookRecord(id: id, name: name, url: url, kinds: kinds, secret: Self.secret, createdAt: 5)
    }

    private static func state() throws -> ControlState {
        var state = ControlState()
        for id: AppID in ["shop", "club"] {
            _ = try state.apply(
                .createApp(id, AppSettings(), TokenSecret(id: "s1", sealed: Self.secret, createdAt: 1)), at: 1)
        }
        return state
    }

    private static func change(
        _ state: inout ControlState, _ change: WebhookChange, of app: AppID = "shop", at now: Int64 = 10
    ) throws -> [WebhookRecord] {
        _ = try state.apply(.changeWebhook(app, change), at: now)
        return state[app: app]?.webhooks ?? []
    }

    private static func refusal(
        _ state: inout ControlState, _ change: WebhookChange, of app: AppID = "shop"
    ) -> String? {
        let before = state
        do throws(ServerFrame.Problem) {
            _ = try state.apply(.changeWebhook(app, change), at: 10)
            return nil
        } catch {
            #expect(state == before)
            return "\(error.code.rawValue) \(error.field)"
        }
    }

    @Test func `is added, changed and removed, each a revision of its app`() throws {
        var state = try Self.state()
        var record = Self.record()
        record.enabledAt = 10
        #expect(record.kinds == [.legEnded, .receipt])
        #expect(try Self.change(&state, .add(Self.record())) == [record])
        record.name = "Bills"
        record.url = "http://10.0.0.1:8080/a?b=c"
        record.kinds = [.pushJob]
        let edit = WebhookEdit(name: record.name, url: record.url, kinds: [.pushJob, .pushJob])
        #expect(try Self.change(&state, .set(id: "w1", edit), at: 20) == [record])
        #expect(state[app: "shop"]?.revision == 3)
        // What changes nothing is no revision.
        #expect(try Self.change(&state, .set(id: "w1", edit), at: 30) == [record])
        #expect(try Self.change(&state, .set(id: "w1", WebhookEdit()), at: 30) == [record])
        #expect(state[app: "shop"]?.revision == 3)
        #expect(state[app: "club"]?.webhooks == [])
        #expect(try Self.change(&state, .remove(id: "w1"), at: 40) == [])
        #expect(state[app: "shop"]?.revision == 4)
    }

    @Test func `is told nothing of what happened before it was made or enabled`() throws {
        var state = try Self.state()
        #expect(try Self.change(&state, .add(Self.record()), at: 10).map(\.enabledAt) == [10])
        let off = try Self.change(&state, .set(id: "w1", WebhookEdit(isEnabled: false)), at: 20)
        #expect(off.map(\.isEnabled) == [false] && off.map(\.enabledAt) == [10])
        let on = try Self.change(&state, .set(id: "w1", WebhookEdit(isEnabled: true)), at: 30)
        #expect(on.map(\.isEnabled) == [true] && on.map(\.enabledAt) == [30])
        // It was enabled.
        let same = try Self.change(&state, .set(id: "w1", WebhookEdit(name: "Bills", isEnabled: true)), at: 40)
        #expect(same.map(\.enabledAt) == [30])
    }

    @Test func `is signed for with the secret before until its end, and only with the one before`() throws {
        var state = try Self.state()
        _ = try Self.change(&state, .add(Self.record()))
        let rotated = try Self.change(&state, .rotateSecret(id: "w1", Self.another, previousEndsAt: 100), at: 20)
        #expect(rotated.map(\.secret) == [Self.another])
        #expect(rotated.map(\.previousSecret) == [Self.secret] && rotated.map(\.previousEndsAt) == [100])
        let third = SealedBytes(keyID: "m1", bytes: [7])
        let again = try Self.change(&state, .rotateSecret(id: "w1", third, previousEndsAt: 200), at: 30)
        #expect(again.map(\.previousSecret) == [Self.another] && again.map(\.previousEndsAt) == [200])
        // With the next change after its end it goes.
        let later = try Self.change(&state, .set(id: "w1", WebhookEdit(name: "Bills")), at: 200)
        #expect(later.map(\.previousSecret) == [nil] && later.map(\.previousEndsAt) == [0])
        let atOnce = try Self.change(&state, .rotateSecret(id: "w1", Self.secret, previousEndsAt: 300), at: 300)
        #expect(atOnce.map(\.secret) == [Self.secret] && atOnce.map(\.previousSecret) == [nil])
    }

    @Test func `is refused with what breaks its rule, and then nothing changes`() throws {
        var state = try Self.state()
        _ = try Self.change(&state, .add(Self.record()))
        let long = "https://example.com/" + String(repeating: "a", count: 2_029)
        let urls = [
            "", "example.com", "ftp://example.com", "HTTPS://example.com", "https://", "https:///a", "https://:443/a",
            "https://ann:secret@example.com", "https://example.com/#a", "https://example.com/a b", "https://例.com",
            "https://127.0.0.1:65536/", "https://[::1]:99999", "https://a:0", "https://a%00b/", "https://a%0d%0ab/",
            "https://a:-1",
            "https://a:9999999999999999999999",
            long,
        ]
        for url in urls {
            #expect(Self.refusal(&state, .add(Self.record("w2", "Bills", url))) == "invalid_field url", "\(url)")
            #expect(Self.refusal(&state, .set(id: "w1", WebhookEdit(url: url))) == "invalid_field url", "\(url)")
        }
        for url in [String(long.dropLast()), "https://a:65535/", "https://[::1]/", "https://[::1]:1", "https://a:/"] {
            #expect(Self.refusal(&state, .set(id: "w1", WebhookEdit(url: url))) == nil, "\(url)")
        }
        let unsealed = SealedBytes(keyID: "", bytes: [1])
        let changes: [(WebhookChange, String)] = [
            (.add(Self.record("w1", "Bills")), "exists webhook"), (.add(Self.record("w2")), "exists name"),
            (.add(Self.record("w2", "")), "invalid_field name"),
            (.add(Self.record("w2", "a\nb")), "invalid_field name"),
            (.add(Self.record("w2", String(repeating: "a", count: 65))), "invalid_field name"),
            (.add(Self.record("a b", "Bills")), "invalid_field webhook"),
            (.add(Self.record("w2", "Bills", "https://example.com", [])), "invalid_field types"),
            (.set(id: "w1", WebhookEdit(kinds: [])), "invalid_field types"),
            (.set(id: "w9", WebhookEdit()), "invalid_field webhook"),
            (.rotateSecret(id: "w9", Self.another, previousEndsAt: 20), "invalid_field webhook"),
            (.rotateSecret(id: "w1", Self.secret, previousEndsAt: 20), "invalid_field secret"),
            (.rotateSecret(id: "w1", unsealed, previousEndsAt: 20), "invalid_field secret.key"),
            (.remove(id: "w9"), "invalid_field webhook"),
        ]
        for (change, answer) in changes { #expect(Self.refusal(&state, change) == answer, "\(change)") }
        #expect(Self.refusal(&state, .remove(id: "w1"), of: "gone") == "invalid_field app")
        // Another app's is another one.
        #expect(Self.refusal(&state, .remove(id: "w1"), of: "club") == "invalid_field webhook")
        _ = try Self.change(&state, .add(Self.record("w2", "Bills")))
        #expect(Self.refusal(&state, .set(id: "w2", WebhookEdit(name: "Orders"))) == "exists name")
        #expect(Self.refusal(&state, .add(Self.record()), of: "club") == nil)
    }

    @Test func `is one of twenty, sorted by id`() throws {
        var state = try Self.state()
        for number in (10..<30).reversed() { _ = try Self.change(&state, .add(Self.record("w\(number)", "\(number)"))) }
        #expect(Self.refusal(&state, .add(Self.record("w30", "30"))) == "invalid_field webhooks")
        #expect(state[app: "shop"]?.webhooks.map(\.id) == (10..<30).map { "w\($0)" })
    }

    @Test func `has its secrets sealed again, both of them`() throws {
        var state = try Self.state()
        _ = try Self.change(&state, .add(Self.record()))
        _ = try Self.change(&state, .rotateSecret(id: "w1", Self.another, previousEndsAt: 100))
        let revision = state[app: "shop"]?.revision
        let (first, second) = (SealedBytes(keyID: "m2", bytes: [8]), SealedBytes(keyID: "m2", bytes: [9]))
        let place = Resealed.Place.webhookSecret(webhook: "w1")
        let all = [
            Resealed(place, before: Self.secret, after: first), Resealed(place, before: Self.another, after: second),
            // Of one that is gone.
            Resealed(.webhookSecret(webhook: "w9"), before: Self.secret, after: second),
        ]
        _ = try state.apply(.reseal("shop", all, digest: nil), at: 20)
        let webhook = try #require(state[app: "shop"]?.webhooks.first)
        #expect(webhook.secret == second && webhook.previousSecret == first && webhook.previousEndsAt == 100)
        #expect(state[app: "shop"]?.revision == revision)
        // What is sealed otherwise by then stays.
        _ = try state.apply(.reseal("shop", all, digest: nil), at: 20)
        #expect(state[app: "shop"]?.webhooks == [webhook])
    }

    @Test func `comes back the same from what a store keeps, where there is none, too`() throws {
        var state = try Self.state()
        let without = try #require(state[app: "shop"])
        #expect(without.json["webhooks"] == nil)
        #expect(try ManagedApp(line: without.json.serialized) == without)
        _ = try Self.change(&state, .add(Self.record()))
        _ = try Self.change(&state, .add(Self.record("w2", "订单", "https://example.com/b", WebhookEventKind.allCases)))
        _ = try Self.change(&state, .rotateSecret(id: "w2", Self.another, previousEndsAt: 100), at: 20)
        _ = try Self.change(&state, .set(id: "w1", WebhookEdit(isEnabled: false)), at: 20)
        let app = try #require(state[app: "shop"])
        #expect(try ManagedApp(line: app.json.serialized) == app)
    }

    @Test func `is told of in the record of who has changed it, without its secret`() throws {
        let author = ControlAuthor(.ofOperator, name: "ann", address: "192.0.2.1")
        let changes: [(WebhookChange, String)] = [
            (.add(Self.record()), "add_webhook"), (.set(id: "w1", WebhookEdit(name: "Bills")), "set_webhook"),
            (.rotateSecret(id: "w1", Self.another, previousEndsAt: 20), "rotate_webhook_secret"),
            (.remove(id: "w1"), "remove_webhook"),
        ]
        for (change, action) in changes {
            let record = ControlChange.by(author, .changeWebhook("shop", change)).audited(number: 7, at: 10)
            #expect(
                record
                    == AuditRecord(number: 7, at: 10, author: author, action: action, app: "shop", subject: "w1"))
        }
    }
}
