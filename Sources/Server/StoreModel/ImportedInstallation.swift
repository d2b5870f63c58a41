package import TidingsModel

/// A phone's push token that the app's backend brings along, before the phone has connected here.
package struct ImportedInstallation: Hashable, Sendable {
    package var registration: PushRegistration
    /// Nil for who has the token, or else an anonymous person.
    package var user: UserID?
    /// In place of the person's; nil leaves them.
    package var tags: [String]?
    /// A digest of the registration, 16 bytes: the same token is the same device and the same anonymous person.
    package var digest: [UInt8]
    /// True where the request was carried out before: what has moved since stays where it is, and tags stay.
    private var isRepeat = false

    package static let listMax = 1_000
    private static let devicePrefix = "import-"

    package init(_ registration: PushRegistration, of user: UserID?, tags: [String]?, digest: [UInt8]) {
        self.registration = registration
        self.user = user
        self.tags = tags
        self.digest = digest
    }

    package var again: Self {
        var again = self
        again.isRepeat = true
        return again
    }

    /// Returns the device that is made for it where nobody has the token.
    package func newDevice(in app: AppID) -> DeviceKey {
        DeviceKey(
            user: UserKey(app: app, user: self.user ?? .anonymous(self.digest)),
            device: DeviceID(Self.devicePrefix + Hexadecimal.text(self.digest)))
    }

    /// Returns true for a device that was made so: once its token is another's it is signed out.
    package static func hasMade(_ device: DeviceID) -> Bool { device.rawValue.hasPrefix(Self.devicePrefix) }

    /// - Parameters: holders: of the token, sorted. carryOut: carries out a command of the store.
    package func register(
        in app: AppID, holders: [DeviceKey], at: Int64, _ carryOut: (StoreCommand) throws -> StoreResult
    ) rethrows -> InstallationOutcome {
        let holder = holders.first { self.user == nil || self.isRepeat || $0.user.user == self.user }
        let key = holder ?? self.newDevice(in: app)
        var outcome = InstallationOutcome.updated(key)
        if holder == nil {
            // Nothing but a ban refuses a token that is issued now.
            guard case .device(var device) = try carryOut(.signIn(key, platform: "ios", tokenIssuedAt: at, at: at))
            else { return .refused(StoreRules.bannedUser) }
            device.push = .registered(self.registration, at: at)
            outcome = .registered(device, taken: [])
            if case .taken(let others) = try carryOut(.setPushState(key, device.push)) {
                outcome = .registered(device, taken: others)
            }
        }
        if let tags, !self.isRepeat { _ = try carryOut(.setLabels(key.user, .tags(tags))) }
        return outcome
    }
}

/// The result for one installation.
package enum InstallationOutcome: Hashable, Sendable {
    /// The device has the token now; `taken` had it before, sorted.
    case registered(DeviceRecord, taken: [DeviceKey])
    /// The device had the token already.
    case updated(DeviceKey)
    case refused(ServerFrame.Problem)
}
