import PhoneCore
import TidingsModel

// What phones there are.
extension World {
    /// A phone as it comes from the shop, with the app on it.
    mutating func newPhone(_ index: Int, of person: UserID) -> WorldPhone {
        let population = self.options.population
        var chance = SplitMix64(seed: self.options.seed, party: .swarm, turn: index + 1)
        func drawn<Value>(_ values: [Value]) -> Value? {
            values.isEmpty ? nil : values[Int(chance.number(0...Int64(values.count - 1)))]
        }
        var app = InstalledApp(bundleID: Self.bundle, appGroup: "group.chat")
        app.lifecycle = drawn(population.styles) ?? .scenes
        app.hasFilteringEntitlement = chance.chance(perMille: population.filtering)
        let phone = WorldPhone(
            person: person, device: DeviceID("phone-\(index)"),
            chance: SplitMix64(seed: self.options.seed, party: .phone(index), turn: 0),
            installed: app, core: PhoneCore(version: drawn(population.versions) ?? 17, apps: [app]))
        phone.habit = drawn(population.habits)
        if !phone.core.version.hasInterruptionLevels { self.see(.lacksLevels(phone.device)) }
        phone.night = Night(fallsAsleep: 32_400_000 + chance.number(0...3_600_000))
        if app.lifecycle == .application { self.see(.reached(.oldStyle)) }
        if app.hasFilteringEntitlement { self.see(.reached(.filtering)) }
        return phone
    }
}
