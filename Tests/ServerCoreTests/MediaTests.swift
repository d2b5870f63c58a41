import ServerCore
import StoreModel
import Testing
import TidingsModel

private let photo = MediaID("00112233445566778899aabbccddeeff")

private func record(
    owner: UserID? = "ada", kind: MediaKind = .jpeg, bytes: Int64 = 1_000, completedAt: Int64? = nil,
    verdict: MediaVerdict? = nil
) -> MediaRecord {
    var record = MediaRecord(id: photo, app: "shop", owner: owner, kind: kind, bytes: bytes, createdAt: 100)
    record.completedAt = completedAt
    if completedAt != nil { record.offset = bytes }
    record.verdict = verdict
    if verdict != nil { record.judgedAt = completedAt }
    return record
}

private func code(_ check: () throws(MediaFault) -> Void) -> MediaFault.Code? {
    do throws(MediaFault) { try check() } catch { return error.code }
    return nil
}

@Suite struct `An upload of media` {
    private static func refusal(
        _ record: MediaRecord, _ usage: MediaUsage = MediaUsage(), _ change: (inout MediaLimits) -> Void = { _ in }
    ) -> MediaFault.Code? {
        var limits = MediaLimits()
        change(&limits)
        return code { () throws(MediaFault) in try MediaRules.checkCreation(record, usage, limits) }
    }

    @Test(
        arguments: [
            (MediaUsage(), nil), (MediaUsage(ownerBytes: 90_000), nil),
            (MediaUsage(ownerBytes: 90_001), .quotaExceeded), (MediaUsage(appBytes: 990_000), nil),
            (MediaUsage(appBytes: 990_001), .quotaExceeded), (MediaUsage(ownerFiles: 9_999), nil),
            (MediaUsage(ownerFiles: 10_000), .quotaExceeded), (MediaUsage(appFiles: 999_999), nil),
            (MediaUsage(appFiles: 1_000_000), .quotaExceeded), (MediaUsage(ownerUploads: 7), nil),
            (MediaUsage(ownerUploads: 8), .tooManyUploads), (MediaUsage(free: 15_000), nil),
            (MediaUsage(free: 14_999), .storageFull),
        ] as [(MediaUsage, MediaFault.Code?)])
    func `fits in what its person and its app may have, and on the disk`(usage: MediaUsage, fault: MediaFault.Code?) {
        let refusal = Self.refusal(record(bytes: 10_000), usage) {
            $0.personBytesMax = 100_000
            $0.appBytesMax = 1_000_000
            $0.freeBytesMin = 5_000
        }
        #expect(refusal == fault)
    }

    @Test func `counts as what the smallest file takes of a disk, so that tiny ones fill a quota too`() {
        for bytes in [1, 4, 4_095, 4_096, 4_097] as [Int64] {
            #expect(record(bytes: bytes).quotaBytes == max(bytes, 4_096))
        }
        for (used, fault) in [(95_904, nil), (95_905, .quotaExceeded)] as [(Int64, MediaFault.Code?)] {
            #expect(
                Self.refusal(record(bytes: 4), MediaUsage(ownerBytes: used)) { $0.personBytesMax = 100_000 } == fault)
            #expect(Self.refusal(record(bytes: 4), MediaUsage(appBytes: used)) { $0.appBytesMax = 100_000 } == fault)
        }
    }

    @Test func `is of a kind and size that the server takes`() {
        #expect(Self.refusal(record(bytes: 26_214_400)) == nil)
        #expect(Self.refusal(record(bytes: 26_214_401)) == .tooLarge)
        #expect(Self.refusal(record(kind: .pdf)) == .kindRefused)
        #expect(Self.refusal(record(kind: .pdf)) { $0.kinds = [.pdf] } == nil)
        #expect(Self.refusal(record()) { $0.kinds = [.pdf] } == .kindRefused)
    }

    @Test func `of the backend's counts for its app alone, and it has more of them at once`() {
        let usage = MediaUsage(ownerBytes: 1 << 40, ownerFiles: 1 << 30, ownerUploads: 8)
        #expect(Self.refusal(record(owner: nil), usage) == nil)
        #expect(Self.refusal(record(owner: nil), MediaUsage(appFiles: 1_000_000)) == .quotaExceeded)
        #expect(Self.refusal(record(owner: nil), MediaUsage(ownerUploads: 256)) == .tooManyUploads)
    }

    @Test func `goes on where it stands, and nowhere else`() {
        var half = record()
        half.offset = 400
        for (offset, fault) in [(400, nil), (0, .wrongOffset), (401, .wrongOffset)] as [(Int64, MediaFault.Code?)] {
            let found = code { () throws(MediaFault) in
                try MediaRules.checkAppending(to: half, at: offset, free: nil, MediaLimits())
            }
            #expect(found == fault)
        }
        // What has come already is on the disk; the rest needs room.
        var limits = MediaLimits()
        limits.freeBytesMin = 100
        for (free, fault) in [(700, nil), (699, .storageFull)] as [(Int64, MediaFault.Code?)] {
            let found = code { () throws(MediaFault) in
                try MediaRules.checkAppending(to: half, at: 400, free: free, limits)
            }
            #expect(found == fault)
        }
    }

    @Test func `that is rejected takes nothing of a quota any more`() {
        #expect(record(completedAt: 5).quotaBytes == 4_096)
        #expect(record(completedAt: 5, verdict: .rejected).quotaBytes == 0)
    }
}

@Suite struct `The first bytes of a file` {
    static let heads: [(MediaKind, [UInt8])] = [
        (.jpeg, [0xff, 0xd8, 0xff, 0xe0, 0, 0x10]), (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]),
        (.gif, Array("GIF89a..".utf8)), (.webp, Array("RIFF????WEBPVP8 ".utf8)),
        (.heic, [0, 0, 0, 24] + Array("ftypheic....".utf8)), (.mp4, [0, 0, 0, 24] + Array("ftypisom....".utf8)),
        (.quickTime, [0, 0, 0, 20] + Array("ftypqt  ....".utf8)), (.m4a, [0, 0, 0, 24] + Array("ftypM4A ....".utf8)),
        (.aac, [0xff, 0xf1, 0x50, 0x80]), (.pdf, Array("%PDF-1.7".utf8)),
    ]

    @Test(arguments: heads) func `tell what it is`(kind: MediaKind, head: [UInt8]) {
        #expect(MediaKind(sniffing: head) == kind)
        // Sound alone may say that it is any MPEG-4, and nothing else passes for something else.
        let likes = MediaKind.allCases.filter { $0.agrees(with: head) }
        #expect(Set(likes) == ([.mp4, .m4a].contains(kind) ? [.mp4, .m4a] : [kind]))
    }

    @Test(arguments: [
        "<!DOCTYPE html><html>", "<html>", "<svg xmlns=\"http://www.w3.org/2000/svg\">", "<?xml version=\"1.0\"?>",
        "  <script>alert(1)</script>", "#!/bin/sh", "MZ", "PK\u{3}\u{4}", "", "RIFF", "GIF88a", "\u{feff}<html>", "{}",
    ])
    func `that are of nothing the server takes are refused as any kind`(text: String) {
        let head = Array(text.utf8)
        #expect(MediaKind(sniffing: head) == nil)
        for kind in MediaKind.allCases {
            #expect(code { () throws(MediaFault) in try MediaRules.checkHead(head, of: kind) } == .kindRefused)
        }
    }

    @Test func `are held against a name of the kind, whatever its form`() {
        #expect(MediaKind(mediaType: "IMAGE/JPEG; q=1") == .jpeg)
        #expect(MediaKind(mediaType: "audio/x-m4a") == .m4a)
        for text in ["text/html", "image/svg+xml", "application/xml", "application/octet-stream", "", "image/"] {
            #expect(MediaKind(mediaType: text) == nil)
        }
    }
}

@Suite struct `Media` {
    private static let use = MediaUse(message: MessageID(rawValue: 1), sender: "ada", isBackend: false)

    private static func fault(
        _ record: MediaRecord, _ reader: MediaRules.Reader, approval: Bool = false, at now: Int64 = 1_000
    ) -> MediaFault.Code? {
        var limits = MediaLimits()
        if approval { limits.appsWithApproval = ["shop"] }
        return code { () throws(MediaFault) in
            try MediaRules.checkReading(record, by: reader, limits, at: now)
        }
    }

    @Test func `is read by its uploader, by who has a message of the uploader's that names it, and by the backend`() {
        let whole = record(completedAt: 500)
        #expect(Self.fault(whole, .person("ada", nil)) == nil)
        #expect(Self.fault(whole, .person("bo", Self.use)) == nil)
        #expect(Self.fault(whole, .backend) == nil)
        #expect(Self.fault(whole, .person("bo", nil)) == .unknown)
        // Somebody who has learnt the id opens nothing with a message of their own.
        let own = MediaUse(message: MessageID(rawValue: 2), sender: "bo", isBackend: false)
        #expect(Self.fault(whole, .person("bo", own)) == .unknown)
        #expect(Self.fault(record(owner: nil, completedAt: 500), .person("bo", Self.use)) == .unknown)
        let backends = MediaUse(message: MessageID(rawValue: 3), sender: "ada", isBackend: true)
        #expect(Self.fault(record(owner: nil, completedAt: 500), .person("bo", backends)) == nil)
        #expect(Self.fault(whole, .person("bo", backends)) == nil)
    }

    @Test func `that is its sender's portrait is read with their messages, if they or the backend have uploaded it`() {
        var portrait = Self.use
        portrait.isPortrait = true
        #expect(Self.fault(record(completedAt: 500), .person("bo", portrait)) == nil)
        #expect(Self.fault(record(owner: "cy", completedAt: 500), .person("bo", portrait)) == .unknown)
        #expect(Self.fault(record(owner: nil, completedAt: 500), .person("bo", portrait)) == nil)
        // Where people choose their own, an id that has leaked opens nothing of the backend's.
        var limits = MediaLimits()
        limits.appsWithOwnProfiles = ["shop"]
        func fault(_ owner: UserID?) -> MediaFault.Code? {
            code { () throws(MediaFault) in
                try MediaRules.checkReading(
                    record(owner: owner, completedAt: 500), by: .person("bo", portrait), limits, at: 1_000)
            }
        }
        #expect(fault(nil) == .unknown)
        #expect(fault("ada") == nil)
    }

    @Test func `that is its uploader's portrait is looked at daily, and stays`() {
        guard
            let portrait = MediaUse(
                portrait: MediaID("00112233445566778899aabbccddeeff"),
                of: UserProfile("ada", Profile(portrait: "media:00112233445566778899aabbccddeeff")))
        else { return #expect(Bool(false)) }
        let now: Int64 = 1_800_000_000_000
        #expect(Self.fate(record(completedAt: 50), [portrait], at: now) == .keep(until: now + Self.day))
    }

    @Test func `is read as long as its message is`() {
        var use = Self.use
        use.expiresAt = 1_001
        #expect(Self.fault(record(completedAt: 500), .person("bo", use)) == nil)
        use.expiresAt = 1_000
        #expect(Self.fault(record(completedAt: 500), .person("bo", use)) == .unknown)
    }

    @Test func `is read by nobody before it is whole`() {
        for reader: MediaRules.Reader in [.backend, .person("ada", nil), .person("bo", Self.use)] {
            #expect(Self.fault(record(), reader) == .unknown)
        }
    }

    @Test(
        arguments: [
            (nil, .notApproved), (.approved, nil), (.rejected, .rejected),
        ] as [(MediaVerdict?, MediaFault.Code?)])
    func `waits for the backend's word where the app wants that`(verdict: MediaVerdict?, fault: MediaFault.Code?) {
        let judged = record(completedAt: 500, verdict: verdict)
        #expect(Self.fault(judged, .person("bo", Self.use), approval: true) == fault)
        #expect(Self.fault(judged, .person("ada", nil), approval: true) == fault)
        // Whoever may not know of it is not told of that either.
        #expect(Self.fault(judged, .person("cy", nil), approval: true) == .unknown)
        // The backend has to look at it.
        #expect(Self.fault(judged, .backend, approval: true) == (verdict == .rejected ? .rejected : nil))
        #expect(Self.fault(judged, .person("bo", Self.use)) == (verdict == .rejected ? .rejected : nil))
    }

    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 24 * Self.hour

    private static func fate(
        _ record: MediaRecord, _ uses: [MediaUse] = [], lifetime: Int64 = 0, at now: Int64
    ) -> MediaRules.Fate {
        var limits = MediaLimits()
        limits.lifetime = lifetime
        return MediaRules.fate(of: record, uses: uses, limits, at: now)
    }

    @Test func `that is not whole goes a day after its last byte`() {
        var half = record()
        half.touchedAt = 50
        #expect(Self.fate(half, at: 60) == .keep(until: 50 + Self.day))
        #expect(Self.fate(half, at: 50 + Self.day) == .remove)
    }

    @Test func `that no message names goes a day after it is whole, unless it is the backend's`() {
        #expect(Self.fate(record(completedAt: 50), at: 60) == .keep(until: 50 + Self.day))
        #expect(Self.fate(record(completedAt: 50), at: 50 + Self.day) == .remove)
        let backends = record(owner: nil, completedAt: 50)
        #expect(Self.fate(backends, at: 50 + Self.day) == .keep(until: 50 + 2 * Self.day))
        // Messages of others keep nothing.
        let others = MediaUse(message: MessageID(rawValue: 2), sender: "bo", isBackend: false)
        #expect(Self.fate(record(completedAt: 50), [others], at: 50 + Self.day) == .remove)
    }

    @Test func `goes with the last message that names it`() {
        let now: Int64 = 1_800_000_000_000
        func use(_ age: Int64, expiresAt: Int64? = nil) -> MediaUse {
            let id = MessageID(wallMilliseconds: now - age, node: 0, counter: 0)
            return MediaUse(message: id, sender: "ada", isBackend: false, expiresAt: expiresAt)
        }
        let whole = record(completedAt: 50)
        #expect(Self.fate(whole, [use(2 * Self.day)], at: now) == .keep(until: now + Self.day))
        // A young message may still be recalled.
        #expect(Self.fate(whole, [use(2 * Self.day), use(5)], at: now) == .keep(until: now + Self.hour))
        #expect(Self.fate(whole, [use(5, expiresAt: now + 9)], at: now) == .keep(until: now + 9))
        #expect(Self.fate(whole, [use(5, expiresAt: now)], at: now) == .remove)
        #expect(Self.fate(whole, [use(5, expiresAt: now), use(6)], at: now) == .keep(until: now + Self.hour))
    }

    @Test func `gets no older than it may`() {
        let start: Int64 = 1_800_000_000_000
        let whole = record(completedAt: start)
        let use = MediaUse(
            message: MessageID(wallMilliseconds: start, node: 0, counter: 0), sender: "ada", isBackend: false)
        let end = start + 3 * Self.day
        #expect(Self.fate(whole, [use], lifetime: 3 * Self.day, at: start + 2 * Self.day + 1) == .keep(until: end))
        #expect(Self.fate(whole, [use], lifetime: 3 * Self.day, at: end) == .remove)
        #expect(Self.fate(record(owner: nil, completedAt: 50), lifetime: 9, at: 60) == .remove)
    }

    @Test func `that was rejected is remembered for thirty days`() {
        let rejected = record(completedAt: 50, verdict: .rejected)
        #expect(Self.fate(rejected, at: 60) == .keep(until: 50 + 30 * Self.day))
        #expect(Self.fate(rejected, at: 50 + 30 * Self.day) == .remove)
    }

    @Test func `asks who names it only if that decides`() {
        let limits = MediaLimits()
        #expect(!MediaRules.asksUses(record(), limits, at: 10 * Self.day))
        #expect(!MediaRules.asksUses(record(completedAt: 50), limits, at: 60))
        #expect(MediaRules.asksUses(record(completedAt: 50), limits, at: 50 + Self.day))
        #expect(!MediaRules.asksUses(record(owner: nil, completedAt: 50), limits, at: 10 * Self.day))
        #expect(!MediaRules.asksUses(record(completedAt: 50, verdict: .rejected), limits, at: 90 * Self.day))
    }

    @Test(
        arguments: [
            ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd.jpg"), ("C:\\a\\b.png", "b.png.jpg"),
            (".htaccess", "htaccess.jpg"), ("a\u{202e}gpj.exe", "agpj.exe.jpg"), ("a\nb\0.JPG", "ab.JPG"),
            ("me.jpeg", "me.jpeg"),
            ("\"><script>", "script.jpg"), ("..", nil), ("", nil), ("/", nil), ("\u{200b}", nil),
            ("📷 Straße.jpg", "📷 Straße.jpg"),
        ] as [(String, String?)])
    func `has a name that harms nobody who saves it`(given: String, name: String?) {
        #expect(MediaName.cleaned(given, .jpeg) == name)
    }

    @Test func `has a name of at most 128 bytes, cut between letters`() {
        let name = MediaName.cleaned(String(repeating: "é", count: 200), .png)
        #expect(name == String(repeating: "é", count: 62) + ".png")
    }
}

@Suite struct `A range of bytes` {
    @Test(
        arguments: [
            (nil, .whole), ("bytes=0-", .part(0..<1_000)), ("bytes=0-0", .part(0..<1)), ("bytes=10-19", .part(10..<20)),
            ("bytes=990-2000", .part(990..<1_000)), ("bytes=-10", .part(990..<1_000)),
            ("bytes=-2000", .part(0..<1_000)),
            ("Bytes= 5-6 ", .part(5..<7)), ("bytes=1000-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=0-99999999999999999999", .part(0..<1_000)),
            ("bytes=0-9223372036854775807", .part(0..<1_000)), ("bytes=-9223372036854775807", .part(0..<1_000)),
            ("bytes=9223372036854775807-", .unsatisfiable),
            ("bytes=5-4", .whole), ("bytes=0-1,5-6", .whole), ("items=0-1", .whole), ("bytes", .whole),
            ("bytes=", .whole),
            ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=+1-2", .whole),
        ] as [(String?, ByteRange)])
    func `is read as RFC 9110 says`(header: String?, range: ByteRange) {
        #expect(ByteRange(header, of: 1_000) == range)
    }

    @Test func `of nothing is none`() {
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-5", of: 0) == .unsatisfiable)
        #expect(ByteRange(nil, of: 0) == .whole)
    }
}

@Suite struct `Somebody who asks for media` {
    @Test func `is asked for by the store, and told what it knows`() {
        var bench = ServerBench()
        let bob = UserKey(app: ServerBench.app, user: "bob")
        bench.connect("bob")
        let asked = APICommand.media(bob, tokenIssuedAt: nil, .read(photo, in: MessageID(rawValue: 7)))
        let lines = bench.run(.api(APIRequestID(1), asked))
        #expect(lines.contains { $0.hasPrefix("store media? bob \(photo)") })
        #expect(bench.replies == [.mediaUse(nil)])
    }

    @Test func `is refused once banned, or with a token that was revoked`() {
        var bench = ServerBench()
        let bob = UserKey(app: ServerBench.app, user: "bob")
        bench.run(.api(APIRequestID(1), .media(bob, tokenIssuedAt: 5, .account)))
        bench.run(.api(APIRequestID(2), .changeAccount(bob, .revokeTokens(before: 6, signsOut: false))))
        bench.run(.api(APIRequestID(3), .media(bob, tokenIssuedAt: 5, .account)))
        bench.run(.api(APIRequestID(4), .media(bob, tokenIssuedAt: 6, .account)))
        bench.run(.api(APIRequestID(5), .changeAccount(bob, .ban())))
        bench.run(.api(APIRequestID(6), .media(bob, tokenIssuedAt: 6, .account)))
        let codes = bench.replies.map { reply -> String in
            if case .refused(let problem) = reply { problem.code.rawValue } else { "\(reply)" }
        }
        #expect(codes == ["done", "done", "token_revoked", "done", "done", "disabled"])
    }
}
