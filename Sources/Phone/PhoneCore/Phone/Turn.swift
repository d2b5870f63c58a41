import TidingsModel

/// One event's way from owner to owner: when it is, what the whole phone has, and what must be done.
struct Turn {
    let now: Now
    let version: OSVersion
    let settings: PhoneSettings
    var system = SystemState()
    var notices = Notices()
    var effects: [PhoneEffect] = []

    /// The app that has been handed the event.
    var app: BundleID?

    mutating func add(_ effect: PhoneEffect) { self.effects.append(effect) }

    mutating func add(_ effect: (BundleID) -> PhoneEffect) { if let app = self.app { self.add(effect(app)) } }

    mutating func record(_ entry: PhoneRecord.Entry) {
        self.add(.record(PhoneRecord(at: self.now, app: self.app, entry: entry)))
    }

    mutating func recordFault(_ rule: String) { self.record(.fault(rule)) }

    /// The turn has not been handed to the app.
    mutating func record(_ entry: PhoneRecord.Entry, of app: BundleID) {
        self.add(.record(PhoneRecord(at: self.now, app: app, entry: entry)))
    }

    /// Records that a notification was not presented, and why.
    mutating func recordHidden(_ identifier: String, isRemote: Bool, _ reason: PresentationReason) {
        self.record(.presentation(PresentationRecord(identifier: identifier, isRemote: isRemote, reason: reason)))
    }

    /// Records a fault if the notification is not on the screen.
    mutating func entry(_ key: NotificationKey) -> ListEntry? {
        if let entry = self.notices.list.entry(key) { return entry }
        self.record(.fault("notification \(key.identifier) must be in the list or a banner"), of: key.app)
        return nil
    }

    mutating func startProcess(of app: BundleID, _ role: ProcessID.Role) -> ProcessID {
        self.system.processCount += 1
        let process = ProcessID(app: app, role: role, number: self.system.processCount)
        self.add(.startProcess(process))
        self.record(.processStarted(process))
        return process
    }

    mutating func endProcess(_ process: ProcessID, _ reason: EndReason, kills: Bool = true) {
        if kills { self.add(.killProcess(process)) }
        self.record(.processEnded(process, reason))
    }

    /// A phone without a network asks when it has one again.
    mutating func requestToken(_ kind: TokenKind) {
        if !self.system.airplaneMode { self.add { .requestToken($0, kind) } }
    }

    mutating func newIdentifier(_ prefix: String) -> String {
        self.system.identifierCount += 1
        return "\(prefix)-\(self.system.identifierCount)"
    }

    /// Returns the call's number.
    @discardableResult
    mutating func call(_ process: ProcessID, _ callback: Callback, in state: ApplicationState) -> CallbackNumber {
        self.system.callbackCount += 1
        let number = self.system.callbackCount
        self.add(.call(process, number, callback, state))
        self.record(
            .callback(CallbackRecord(number: number, process: process, callback: callback, applicationState: state)))
        return number
    }
}

extension Now {
    func monotonic(wall: Int64) -> Int64 { self.monotonic + (wall - self.wall) }
}
