import PhoneCore
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
