import PhoneCore
import Testing
import TidingsModel

@Suite struct `A phone with a full life` {
    @Test func `takes less than 50 kB`() {
        var rig = PhoneRig(17)
        for number in 1...30 {
            let aps: JSONValue = [
                "alert": ["title": "Ann", "body": .string("A message of a usual length, number \(number)")],
                "sound": "default", "badge": .int(number), "thread-id": "conversation", "mutable-content": 1,
            ]
            let rc: JSONValue = ["cType": "PR", "fId": "ann", "oName": "RC:TxtMsg", "tId": "ann", "id": .int(number)]
            rig.push(["aps": aps, "rc": rc, "bseq": .int(number)], collapse: "message-\(number)")
        }
        // Extensions end and banners leave; until then they share the list's buffers.
        rig.pass(seconds: 6)
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.list.count == 30)
        let bytes = Footprint.bytes(of: rig.core)
        #expect(bytes < 50_000)
        #expect(bytes > 5_000, "the measure sees the list")
    }
}

enum Footprint {
    static func bytes<Value>(of value: Value) -> Int { MemoryLayout<Value>.size + self.buffers(of: value) }

    /// The buffers behind a value: strings over 15 bytes, and arrays with their elements in place.
    private static func buffers(of value: Any) -> Int {
        if let text = value as? String { return text.utf8.count > 15 ? text.utf8.count + 32 : 0 }
        let mirror = Mirror(reflecting: value)
        let inside = mirror.children.reduce(0) { $0 + self.buffers(of: $1.value) }
        guard mirror.displayStyle == .collection, !mirror.children.isEmpty else { return inside }
        return inside + 32 + mirror.children.reduce(0) { $0 + self.stride(of: $1.value) }
    }

    private static func stride(of value: Any) -> Int {
        func open<Value>(_ value: Value) -> Int { MemoryLayout<Value>.stride }
        return _openExistential(value, do: open)
    }
}
