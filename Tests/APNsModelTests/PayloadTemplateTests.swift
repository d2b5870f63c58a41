import Testing
import TidingsModel

@testable import APNsModel

extension JSONObject {
    /// The keys that lead to every member, from the outside in.
    fileprivate var paths: [[String]] {
        self.members.flatMap { key, value in
            [[key]] + (value.objectValue?.paths ?? []).map { [key] + $0 }
        }
    }

    /// Puts another value at the end of a path that is there.
    fileprivate func setting(_ path: ArraySlice<String>, to value: JSONValue) -> JSONObject {
        guard let key = path.first else { return self }
        var changed = self
        let inner = self[key]?.objectValue ?? JSONObject()
        changed[key] = path.count == 1 ? value : .object(inner.setting(path.dropFirst(), to: value))
        return changed
    }
}

private func outcome(_ bytes: () throws(InvalidField) -> [UInt8]) -> Result<String, InvalidField> {
    Result { () throws(InvalidField) in String(decoding: try bytes(), as: UTF8.self) }
}

@Suite struct `A payload template` {
    private static let push = APNsPayload(
        alert: .init(body: "You have a new message"), badge: 1, sound: "default", mutableContent: true,
        custom: JSONObject([
            ("rc", ["mId": "", "id": "m1"]), ("tidings", ["mid": "m1", "bseq": 1, "to": "anna"]),
        ]))

    @Test func `is encoded once and patched for each device`() throws {
        let template = try APNsPayloadTemplate(
            Self.push, varying: [["tidings", "bseq"], ["tidings", "to"]], bytesMax: 4_096)
        #expect(
            String(decoding: try template.rendered(badge: 12, [7, "bob"]), as: UTF8.self)
                == #"{"aps":{"alert":{"body":"You have a new message"},"badge":12,"sound":"default","#
                + #""mutable-content":1},"rc":{"mId":"","id":"m1"},"tidings":{"mid":"m1","bseq":7,"to":"bob"}}"#)
        #expect(
            String(decoding: try template.rendered(badge: nil, [8, "\"carol\""]), as: UTF8.self)
                == #"{"aps":{"alert":{"body":"You have a new message"},"sound":"default","mutable-content":1},"#
                + #""rc":{"mId":"","id":"m1"},"tidings":{"mid":"m1","bseq":8,"to":"\"carol\""}}"#)
    }

    /// 3,000 payloads of every shape, each patched four times under budgets from too small to ample.
    @Test(arguments: [UInt64(1), 2, 3]) func `writes what encoding the changed payload writes`(seed: UInt64) throws {
        var seeded = Seeded(seed)
        var (written, shortened, refused) = (0, 0, 0)
        for _ in 0..<1_000 {
            let payload = seeded.payload()
            var varying: [[String]] = []
            for path in payload.custom.paths.shuffled(using: &seeded).prefix(seeded.number(0...3))
            where !varying.contains(where: { $0.starts(with: path) || path.starts(with: $0) }) {
                varying.append(path)
            }
            let whole = try payload.serialized(bytesMax: .max).count
            let bytesMax = seeded.pick([4_096, whole, whole - seeded.number(0...whole)])
            let template = try APNsPayloadTemplate(payload, varying: varying.map { .init($0) }, bytesMax: bytesMax)
            var reused: [UInt8] = []
            for _ in 0..<4 {
                var changed = payload
                changed.badge = seeded.maybe(80) { $0.number(0...99_999) }
                let values = varying.map { _ in seeded.json() }
                for (path, value) in zip(varying, values) {
                    changed.custom = changed.custom.setting(path[...], to: value)
                }
                let encoded = outcome { () throws(InvalidField) in try changed.serialized(bytesMax: bytesMax) }
                let rendered = outcome { () throws(InvalidField) in
                    try template.render(into: &reused, badge: changed.badge, values)
                    return reused
                }
                #expect(rendered == encoded)
                switch encoded {
                case .success(let text) where text.utf8.count < (try changed.serialized(bytesMax: .max).count):
                    shortened += 1
                case .success: written += 1
                case .failure: refused += 1
                }
            }
        }
        #expect(written > 500)
        #expect(shortened > 100)
        #expect(refused > 100)
    }

    @Test func `checks the budget when the values are known`() throws {
        let payload = APNsPayload(badge: 1, custom: JSONObject([("to", "")]))
        let bytesMax = try payload.serialized(bytesMax: 4_096).count + 3
        let template = try APNsPayloadTemplate(payload, varying: ["to"], bytesMax: bytesMax)
        #expect(try template.rendered(badge: 1, ["bob"]).count == bytesMax)
        #expect(
            broken { () throws(InvalidField) in _ = try template.rendered(badge: 1, ["anna"]) }
                == broken { () throws(InvalidField) in
                    _ = try APNsPayload(badge: 1, custom: JSONObject([("to", "anna")])).serialized(bytesMax: bytesMax)
                })
        #expect(broken { () throws(InvalidField) in _ = try template.rendered(badge: 10, ["bob"]) }?.field == "payload")
    }

    @Test func `refuses a member that is not there, is named twice or stands inside another`() {
        func fault(_ varying: [APNsPayloadTemplate.Member]) -> String? {
            broken { () throws(InvalidField) in
                _ = try APNsPayloadTemplate(Self.push, varying: varying, bytesMax: 4_096)
            }?.field
        }
        #expect(fault(["rc", ["tidings", "to"]]) == nil)
        #expect(fault(["nobody"]) == "custom.nobody")
        #expect(fault([["tidings", "nobody"]]) == "custom.tidings.nobody")
        #expect(fault([["tidings", "to", "deeper"]]) == "custom.tidings.to.deeper")
        #expect(fault([[]]) == "custom.")
        #expect(fault(["rc", "rc"]) == "custom.rc")
        #expect(fault(["rc", ["rc", "id"]]) == "custom.rc.id")
        #expect(fault([["rc", "id"], "rc"]) == "custom.rc")
    }

    @Test func `refuses a badge below 0, and more or fewer values than members`() throws {
        let template = try APNsPayloadTemplate(Self.push, varying: ["rc"], bytesMax: 4_096)
        #expect(broken { () throws(InvalidField) in _ = try template.rendered(badge: -1, [1]) }?.field == "badge")
        #expect(broken { () throws(InvalidField) in _ = try template.rendered(badge: 1) }?.field == "values")
        #expect(broken { () throws(InvalidField) in _ = try template.rendered(badge: 1, [1, 2]) }?.field == "values")
    }

    @Test func `is not made of a payload that breaks a rule`() {
        let error = broken { () throws(InvalidField) in
            _ = try APNsPayloadTemplate(APNsPayload(relevanceScore: 2), bytesMax: 4_096)
        }
        #expect(error?.field == "relevance-score")
    }
}
