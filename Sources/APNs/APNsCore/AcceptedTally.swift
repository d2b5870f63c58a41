package import TidingsModel

/// How often each device was pushed to, and under how many names: counted as pushes are accepted, for more of them than the log has lines.
///
/// A push's name is its `apns-id` with its collapse id. Of both a hash of 64 bits is kept: among a million pushes two that differ fall
/// together in one of thirty million counts.
package struct AcceptedTally: Sendable {
    package private(set) var pushes = 0
    /// The number of devices with at least one push: `once`, `repeated` and `several` together.
    package private(set) var devices = 0
    package private(set) var once = 0
    /// Devices whose pushes, two or more, had all the same name.
    package private(set) var repeated = 0
    /// Pushes to a device under the name of its first, without that one.
    package private(set) var repeats = 0
    /// Devices that had pushes under different names.
    package private(set) var several = 0
    /// Different ones, of all devices together.
    package var names: Int { self.seen.count }

    private var byToken: [PushToken: Device] = [:]
    private var seen: Set<UInt64> = []

    private struct Device: Hashable, Sendable {
        var name: UInt64
        var state = State.once
    }

    private enum State: Hashable, Sendable { case once, repeated, several }

    package init() {}

    mutating func count(_ push: AcceptedPush) {
        var hash = FNV1a()
        hash.feed(push.apnsID)
        // No id has a zero byte in it.
        hash.feed(0 as UInt8)
        if let collapseID = push.collapseID { hash.feed(collapseID) }
        let name = SplitMix64.mixed(hash.value)
        self.pushes += 1
        self.seen.insert(name)
        guard let device = self.byToken[push.token] else {
            self.byToken[push.token] = Device(name: name)
            self.devices += 1
            self.once += 1
            return
        }
        if device.name == name { self.repeats += 1 }
        switch (device.state, device.name == name) {
        case (.once, let isSame):
            self.once -= 1
            self.byToken[push.token]?.state = isSame ? .repeated : .several
            if isSame { self.repeated += 1 } else { self.several += 1 }
        case (.repeated, false):
            self.repeated -= 1
            self.several += 1
            self.byToken[push.token]?.state = .several
        case (.repeated, true), (.several, _): break
        }
    }
}

extension AcceptedTally {
    package var json: JSONValue {
        [
            "pushes": .int(self.pushes), "devices": .int(self.devices), "once": .int(self.once),
            "repeated": .int(self.repeated), "repeats": .int(self.repeats), "several": .int(self.several),
            "names": .int(self.names),
        ]
    }
}
