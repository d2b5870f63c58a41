import ClientCore
import Testing
import TidingsModel

private let location = "/v1/media/uploads/x"
private let megabyte: Int64 = 1_048_576

/// An upload and what it asked for; waits are told without their length, which chance decides.
private struct Uploading {
    var machine: UploadMachine

    init(_ bytes: Int64) { self.machine = UploadMachine(bytes: bytes, seed: 1) }

    mutating func handle(_ event: UploadMachine.Event) -> [String] {
        var effects: [UploadMachine.Effect] = []
        self.machine.handle(event, into: &effects)
        return effects.map { effect in
            switch effect {
            case .create: "create"
            case .ask: "ask"
            case .send(_, let offset, let count): "send \(count) at \(offset)"
            case .wait: "wait"
            case .renewToken: "renew"
            case .report(let sent): "sent \(sent)"
            case .delete: "delete"
            case .finish(let outcome): "\(outcome)"
            }
        }
    }

    mutating func answer(_ status: Int, offset: Int64? = nil, code: String? = nil) -> [String] {
        let place = status == 201 ? location : nil
        return self.handle(.answered(MediaAnswer(status: status, offset: offset, location: place, code: code)))
    }

    mutating func begin() {
        _ = self.handle(.started)
        _ = self.answer(201)
    }
}

@Suite struct `An upload from a phone` {
    @Test func `is begun, sent in parts, and over when the server has all of it`() {
        var upload = Uploading(megabyte + 10)
        #expect(upload.handle(.started) == ["create"])
        #expect(upload.answer(201) == ["sent 0", "send 1048576 at 0"])
        #expect(upload.answer(204, offset: megabyte) == ["sent 1048576", "send 10 at 1048576"])
        #expect(upload.answer(204, offset: megabyte + 10) == ["sent 1048586", "done"])
        #expect(upload.machine.place == location)
        #expect(upload.handle(.cancelled) == [])
    }

    @Test func `asks how far the server is after a lost connection, and sends smaller parts from there`() {
        var upload = Uploading(3 * megabyte)
        upload.begin()
        #expect(upload.handle(.answered(nil)) == ["wait"])
        #expect(upload.handle(.timePassed) == ["ask"])
        // Part of what was under way has come.
        #expect(upload.answer(200, offset: 700_000) == ["sent 700000", "send 524288 at 700000"])
        #expect(upload.answer(408) == ["wait"])
        #expect(upload.handle(.timePassed) == ["ask"])
        #expect(upload.answer(423) == ["wait"])
        #expect(upload.handle(.timePassed) == ["ask"])
        #expect(upload.answer(200, offset: 700_000) == ["sent 700000", "send 131072 at 700000"])
        // The server knows better.
        #expect(upload.answer(409, code: "wrong_offset") == ["wait"])
        #expect(upload.handle(.timePassed) == ["ask"])
        #expect(upload.answer(200, offset: 3 * megabyte) == ["sent 3145728", "done"])
    }

    @Test func `waits while its first request is not answered yet`() {
        var upload = Uploading(10)
        #expect(upload.handle(.started) == ["create"])
        #expect(upload.handle(.answered(nil)) == ["wait"])
        #expect(upload.handle(.timePassed) == ["create"])
        #expect(upload.answer(409, code: "idempotency_key_in_use") == ["wait"])
        #expect(upload.handle(.timePassed) == ["create"])
        #expect(upload.answer(201) == ["sent 0", "send 10 at 0"])
    }

    @Test func `is begun anew where the server has lost it, three times at most`() {
        var upload = Uploading(10)
        upload.begin()
        for _ in 0..<2 {
            #expect(upload.answer(404, code: "unknown_media") == ["wait"])
            #expect(upload.handle(.timePassed) == ["create"])
            #expect(upload.answer(201) == ["sent 0", "send 10 at 0"])
        }
        #expect(upload.answer(404, code: "unknown_media") == ["refused(code: \"unknown_media\", status: 404)"])
    }

    @Test func `counts no beginning that never came about`() {
        var upload = Uploading(10)
        _ = upload.handle(.started)
        for _ in 0..<4 {
            #expect(upload.answer(503) == ["wait"])
            #expect(upload.handle(.timePassed) == ["create"])
        }
        #expect(upload.answer(201) == ["sent 0", "send 10 at 0"])
        #expect(upload.answer(404, code: "unknown_media") == ["wait"])
    }

    @Test func `takes a new token once, and is over if that is not good either`() {
        var upload = Uploading(10)
        upload.begin()
        #expect(upload.answer(401) == ["renew", "send 10 at 0"])
        #expect(upload.answer(401) == ["refused(code: \"\", status: 401)"])
    }

    @Test(arguments: [
        (409, "media_quota_exceeded"), (413, "media_too_large"), (415, "media_type_refused"), (507, "storage_full"),
    ])
    func `ends with what the server refuses`(status: Int, code: String) {
        var upload = Uploading(10)
        _ = upload.handle(.started)
        #expect(upload.answer(status, code: code) == ["refused(code: \"\(code)\", status: \(status))"])
        #expect(upload.handle(.timePassed) == [])
    }

    @Test func `gives up after a long time without anything getting through`() {
        var upload = Uploading(10)
        _ = upload.handle(.started)
        for _ in 0..<15 {
            #expect(upload.handle(.answered(nil)) == ["wait"])
            #expect(upload.handle(.timePassed) == ["create"])
        }
        #expect(upload.handle(.answered(nil)) == ["unreachable"])
    }

    @Test func `waits as long as the server asks for`() {
        var machine = UploadMachine(bytes: 10, seed: 1)
        var effects: [UploadMachine.Effect] = []
        machine.handle(.started, into: &effects)
        machine.handle(.answered(MediaAnswer(status: 503, retryAfter: 120)), into: &effects)
        #expect(effects == [.create, .wait(milliseconds: 120_000)])
    }

    @Test func `is deleted when the app gives it up`() {
        var upload = Uploading(10)
        upload.begin()
        #expect(upload.handle(.cancelled) == ["delete", "cancelled"])
        #expect(upload.answer(204, offset: 10) == [])
        var begun = Uploading(10)
        _ = begun.handle(.started)
        #expect(begun.handle(.cancelled) == ["cancelled"])
    }
}

private struct Downloading {
    var machine: DownloadMachine

    init(offset: Int64 = 0, tag: String? = nil) {
        self.machine = DownloadMachine(offset: offset, tag: tag, seed: 1)
    }

    mutating func handle(_ event: DownloadMachine.Event) -> [String] {
        var effects: [DownloadMachine.Effect] = []
        self.machine.handle(event, into: &effects)
        return effects.map { effect in
            switch effect {
            case .fetch(let offset, let count, let tag): "fetch \(count) at \(offset)" + (tag.map { " of \($0)" } ?? "")
            case .store(let offset): "store at \(offset)"
            case .wait: "wait"
            case .renewToken: "renew"
            case .report(let received, let total): "\(received) of \(total)"
            case .finish(let outcome): "\(outcome)"
            }
        }
    }

    mutating func answer(_ status: Int, _ received: Int64 = 0, of total: Int64? = nil, code: String? = nil) -> [String]
    {
        self.handle(.answered(MediaAnswer(status: status, total: total, tag: "t", received: received, code: code)))
    }
}

@Suite struct `A download to a phone` {
    @Test func `comes in ranges until all of it is there`() {
        var download = Downloading()
        #expect(download.handle(.started) == ["fetch 1048576 at 0"])
        #expect(
            download.answer(206, megabyte, of: megabyte + 5) == [
                "store at 0", "1048576 of 1048581", "fetch 1048576 at 1048576 of t",
            ])
        #expect(download.answer(206, 5, of: megabyte + 5) == ["store at 1048576", "1048581 of 1048581", "done"])
    }

    @Test func `goes on after a lost connection, also one of an earlier process`() {
        var download = Downloading(offset: 100, tag: "t")
        #expect(download.handle(.started) == ["fetch 1048576 at 100 of t"])
        #expect(download.handle(.answered(nil)) == ["wait"])
        #expect(download.handle(.timePassed) == ["fetch 524288 at 100 of t"])
        #expect(download.answer(206, 50, of: 150) == ["store at 100", "150 of 150", "done"])
        // Without knowing of what it is, what is there is worth nothing.
        var unknown = Downloading(offset: 100)
        #expect(unknown.handle(.started) == ["fetch 1048576 at 0"])
    }

    @Test func `begins anew if what is there is of another file`() {
        var download = Downloading(offset: 100, tag: "old")
        _ = download.handle(.started)
        #expect(download.answer(200, 80) == ["store at 0", "80 of 80", "done"])
        var beyond = Downloading(offset: 100, tag: "t")
        _ = beyond.handle(.started)
        #expect(beyond.answer(416, of: 80) == ["fetch 1048576 at 0"])
        var whole = Downloading(offset: 100, tag: "t")
        _ = whole.handle(.started)
        #expect(whole.answer(416, of: 100) == ["done"])
    }

    @Test(arguments: [(404, "unknown_media"), (409, "media_not_approved"), (410, "media_rejected")])
    func `ends with what the server refuses`(status: Int, code: String) {
        var download = Downloading()
        _ = download.handle(.started)
        #expect(download.answer(status, code: code) == ["refused(code: \"\(code)\", status: \(status))"])
    }

    @Test func `takes a new token once`() {
        var download = Downloading()
        _ = download.handle(.started)
        #expect(download.answer(401) == ["renew", "fetch 1048576 at 0"])
        #expect(download.answer(401) == ["refused(code: \"\", status: 401)"])
    }
}
