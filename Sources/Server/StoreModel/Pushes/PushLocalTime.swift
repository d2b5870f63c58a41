package import TidingsModel

/// A time on people's own clocks. When that is, the server's time-zone database says once, when the job is made: no store knows zones.
package struct PushLocalTime: Hashable, Sendable {
    /// The zones in which it is the time at one moment.
    package struct Pass: Hashable, Sendable {
        /// Wall milliseconds.
        package var at: Int64
        /// Sorted.
        package var timeZones: [String]

        package init(at: Int64, timeZones: [String]) {
            self.at = at
            self.timeZones = timeZones
        }
    }

    /// The time as the backend has given it, without a zone: `2026-12-01T09:00`.
    package var text: String
    /// Whose clock holds for people whose phones have told no zone that is in a pass.
    package var timeZone: String
    /// Ascending. Each zone is in one of them; `timeZone` is, too.
    package var passes: [Pass]

    /// Zones that are an hour, or part of one, apart; more than there have ever been.
    package static let passesMax = 128
    package static let timeZonesMax = 2_000

    package init(text: String, timeZone: String, passes: [Pass]) {
        self.text = text
        self.timeZone = timeZone
        self.passes = passes
    }

    /// Returns the pass for people whose phone has told this zone, or none.
    func pass(of timeZone: String?) -> Int? {
        timeZone.flatMap { self.knownPass(of: $0) } ?? self.knownPass(of: self.timeZone)
    }

    private func knownPass(of timeZone: String) -> Int? {
        self.passes.firstIndex { pass in
            let place = pass.timeZones.sortedPlace { $0 < timeZone }
            return place < pass.timeZones.count && pass.timeZones[place] == timeZone
        }
    }

    package func validate() throws(InvalidField) {
        let field = "send_at_local"
        try InvalidField.check(self.passes.count, in: 1...Self.passesMax, field)
        try InvalidField.check(
            self.passes.reduce(0) { $0 + $1.timeZones.count }, atMost: Self.timeZonesMax, field)
        try InvalidField.check(
            zip(self.passes, self.passes.dropFirst()).allSatisfy { $0.at < $1.at }, field,
            "must have passes that ascend")
        try InvalidField.check(
            self.passes.allSatisfy { zip($0.timeZones, $0.timeZones.dropFirst()).allSatisfy(<) }, field,
            "must have passes with sorted zones")
        try InvalidField.check(
            self.knownPass(of: self.timeZone) != nil, "time_zone",
            "must be a zone that the server knows, got \"\(self.timeZone)\"")
    }
}

/// Where a person is: what of their signed-in devices that one has told that has reported last; of several, the one with the smallest id.
package struct PersonTimeZone {
    private var newest: (at: Int64, device: DeviceID, name: String)?

    package init() {}

    /// nil if none has told any.
    package var name: String? { self.newest?.name }

    /// - Parameter device: signed in.
    package mutating func look(at device: DeviceID, _ status: ReportedStatus) {
        let name = status.status.timeZone
        guard !name.isEmpty else { return }
        if let newest, newest.at > status.at || (newest.at == status.at && newest.device < device) { return }
        self.newest = (status.at, device, name)
    }
}

extension Sequence<DeviceRecord> {
    /// `PersonTimeZone` of all of a person's devices.
    package var timeZone: String? {
        var zone = PersonTimeZone()
        for device in self where !device.isSignedOut {
            if let status = device.status { zone.look(at: device.key.device, status) }
        }
        return zone.name
    }
}
