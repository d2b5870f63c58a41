import PhoneCore
import TidingsModel

// What phones there are.
extension World {
    /// A phone as it comes from the shop, with the app on it.
    mutating func newPhone(_ index: Int, of person: UserID) -> WorldPhone {
        let app = InstalledApp(bundleID: Self.bundle, appGroup: "group.chat")
        return WorldPhone(
            person: person, device: DeviceID("phone-\(index)"),
            chance: SplitMix64(seed: self.options.seed, party: .phone(index), turn: 0),
            installed: app, core: PhoneCore(version: 17, apps: [app]))
    }
}
