import PhoneCore
import StoreMachine
import TidingsModel

extension World {
    mutating func newPhone(_ index: Int, of person: UserID) -> WorldPhone {
        let population = self.options.population
        var chance = SplitMix64(seed: self.options.seed, stream: .swarm, draw: index + 1)
        func drawn<Value>(_ values: [Value]) -> Value? {
            values.isEmpty ? nil : values[Int(chance.number(0...Int64(values.count - 1)))]
        }
        var app = InstalledApp(bundleID: Self.bundle, appGroup: "group.chat")
        app.lifecycle = drawn(population.styles) ?? .scenes
        app.hasFilteringEntitlement = chance.chance(perMille: population.filtering)
        if population.usesCommunication { app.entitlements.insert(.communication) }
        let phone = WorldPhone(
            person: person, device: DeviceID("phone-\(index)"),
            chance: SplitMix64(seed: self.options.seed, stream: .phone(index), draw: 0),
            installed: app, core: PhoneCore(version: drawn(population.versions) ?? 17, apps: [app]))
        phone.behaviour = drawn(population.behaviours)
        var nameChance = SplitMix64(seed: self.options.seed, stream: .swarm, draw: Population.namesDraw + 1 + index)
        phone.naming =
            population.nameSources[Int(nameChance.number(0...Int64(max(0, population.nameSources.count - 1))))]
        if phone.naming == .nobody { self.emit(.lacksNames(phone.device)) }
        if !phone.core.version.hasInterruptionLevels { self.emit(.lacksLevels(phone.device)) }
        phone.night = Night(fallsAsleep: 32_400_000 + chance.number(0...3_600_000))
        if app.lifecycle == .application { self.emit(.reached(.oldStyle)) }
        if app.hasFilteringEntitlement { self.emit(.reached(.filtering)) }
        return phone
    }
}

extension StoreMachine.Configuration {
    /// In half of the worlds few people are in memory and little waits to be derived, so that rows are loaded, evicted and derived in many
    /// steps. The limits change nothing of what the store answers.
    static func drawn(seed: UInt64) -> Self {
        var chance = SplitMix64(seed: seed, stream: .swarm, draw: 7_001)
        var limits = Self()
        // All else stays in memory; a longer tail would be applied anew after each of many crashes.
        limits.tailRecordsMax = 2_000
        guard chance.chance(perMille: 500) else { return limits }
        limits.tailRecordsMax = Int(chance.number(1...128))
        limits.derivationStepMax = Int(chance.number(4...32))
        limits.cachedPeopleMax = Int(chance.number(1...8))
        limits.sentIDsInMemoryMax = Int(chance.number(0...16))
        limits.pushEntriesInTailMax = Int(chance.number(1...32))
        limits.logChunkBytes = Int(chance.number(16...512))
        return limits
    }
}
