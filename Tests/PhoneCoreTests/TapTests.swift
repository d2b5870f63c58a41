import PhoneCore
import Requirements
import Testing
import TidingsModel

/// A row of ios-delivery.md §6.1: what a tap on a waiting notification leads to.
struct TapRow: Sendable, CustomTestStringConvertible {
    var name: String
    var version: OSVersion
    var state: String
    var calls: [String]
    var app: InstalledApp
    var delegate = AppBehaviour.DelegateMoment.inDidFinish
    var isLocal = false
    var payload = Payload.alert

    var testDescription: String { "\(self.name), \(self.state)" }

    func play() -> [String] {
        var rig = PhoneRig(self.version, self.app, behaviour: AppBehaviour(delegate: self.delegate))
        rig.enter(row: self.state)
        if self.isLocal { rig.fireLocal() } else { rig.push(self.payload, collapse: "m") }
        rig.clear()
        rig.tap("m")
        return rig.calls + rig.faults + (rig.state == .foregroundActive ? [] : ["not in the foreground"])
    }
}

@Suite struct `A tap` {
    static let old: DelegateMethods = [.receiveRemote, .receiveRemoteFetch, .receiveLocal]

    static func app(_ methods: DelegateMethods) -> InstalledApp {
        InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: methods)
    }

    static func rows(
        _ name: String, _ version: OSVersion, _ states: [String], _ calls: [String], _ methods: DelegateMethods,
        delegate: AppBehaviour.DelegateMoment = .inDidFinish, isLocal: Bool = false,
        payload: JSONValue = Payload.alert
    ) -> [TapRow] {
        states.map {
            TapRow(
                name: name, version: version, state: $0, calls: calls, app: Self.app(methods), delegate: delegate,
                isLocal: isLocal, payload: payload)
        }
    }

    static let warm = ["BR", "SU"]
    static let cold = ["NK", "NQ"]

    @Test(
        .requirement("S0.20", "S0.21", "S1.5"),
        arguments: rows("6", 6, warm, ["WEF", "R0(inactive)", "DBA"], old)
            + rows("6", 6, cold, ["WF", "DF(remoteNotification)", "DBA"], old))
    func `on iOS 6 calls R0 unless it launches the app`(row: TapRow) {
        #expect(row.play() == row.calls)
    }

    @Test(
        .requirement("S0.9", "S0.19"),
        arguments: [OSVersion(6), OSVersion(9, 3)].flatMap { version in
            rows("local \(version)", version, warm, ["WEF", "L0(inactive)", "DBA"], old, isLocal: true)
                + rows(
                    "local \(version)", version, cold, ["WF", "DF(localNotification)", "DBA"], old, isLocal: true)
        })
    func `on a local notification before iOS 10 calls L0 unless it launches the app`(row: TapRow) {
        #expect(row.play() == row.calls)
    }

    @Test(
        .requirement("S1.9", "S1.11", "S4.4"),
        arguments: [OSVersion(7), OSVersion(9, 3)].flatMap { version in
            rows("\(version)", version, warm, ["WEF", "RF(inactive)", "DBA"], old)
                + rows("\(version)", version, cold, ["WF", "DF(remoteNotification)", "RF(inactive)", "DBA"], old)
        } + rows("R0 only", 9, warm, ["WEF", "R0(inactive)", "DBA"], .receiveRemote)
            + rows("R0 only", 9, cold, ["WF", "DF(remoteNotification)", "DBA"], .receiveRemote)
            + rows(
                "AC", 9, warm, ["WEF", "RF(inactive)", "DBA"], old, payload: Payload.alertAndContent))
    func `on iOS 7 to 9 calls RF, also after a launch`(row: TapRow) {
        #expect(row.play() == row.calls)
    }

    @Test(
        .requirement("S4.3", "S4.4"),
        arguments: rows("12", 12, warm, ["WEF", "RF(inactive)", "DBA"], old, delegate: .never)
            + rows("12", 12, cold, ["WF", "DF(remoteNotification)", "RF(inactive)", "DBA"], old, delegate: .never)
            + rows("10, Q1", 10, warm, ["WEF", "R0(inactive)", "DBA"], old, delegate: .never)
            + rows("10, Q1", 10, cold, ["WF", "DF(remoteNotification)", "R0(inactive)", "DBA"], old, delegate: .never)
            + rows("12, R0", 12, warm, ["WEF", "R0(inactive)", "DBA"], .receiveRemote, delegate: .never)
            + rows("12, R0", 12, cold, ["WF", "DF(remoteNotification)", "DBA"], .receiveRemote, delegate: .never))
    func `on iOS 10 to 12 without a UN delegate calls the old callbacks`(row: TapRow) {
        #expect(row.play() == row.calls)
    }

    @Test(
        .requirement("S1.13", "S3.11", "S3.12"),
        arguments: [OSVersion(10), OSVersion(12)].flatMap { version in
            rows("\(version)", version, warm, ["WEF", "DR", "DBA"], .modern)
                + rows("\(version)", version, cold, ["WF", "DF(remoteNotification)", "DR", "DBA"], .modern)
                + rows("local \(version)", version, warm, ["WEF", "DR", "DBA"], .modern, isLocal: true)
                + rows(
                    "local \(version)", version, cold, ["WF", "DF(localNotification)", "DR", "DBA"], .modern,
                    isLocal: true)
                + rows(
                    "AC \(version)", version, warm, ["WEF", "DR", "DBA"], .modern, payload: Payload.alertAndContent)
        })
    func `with a UN delegate calls DR`(row: TapRow) {
        #expect(row.play() == row.calls)
    }

    @Test(
        .requirement("S1.12"),
        arguments: rows(
            "late", 12, cold, ["WF", "DF(remoteNotification)", "DBA"], [.willPresent, .receiveResponse],
            delegate: .inDidBecomeActive)
            + rows(
                "late, with RF", 12, cold, ["WF", "DF(remoteNotification)", "DBA"], .modern,
                delegate: .inDidBecomeActive)
            + rows(
                "late, with R0 and RF", 10, cold, ["WF", "DF(remoteNotification)", "DBA"],
                old.union([.willPresent, .receiveResponse]), delegate: .inDidBecomeActive)
            + rows(
                "late, local", 12, cold, ["WF", "DF(localNotification)", "DBA"], .modern.union(.receiveLocal),
                delegate: .inDidBecomeActive, isLocal: true))
    func `with a UN delegate set too late loses DR`(row: TapRow) {
        #expect(row.play() == row.calls)
    }

    @Test(.requirement("S1.13"), arguments: [OSVersion(12), OSVersion(17)])
    func `on a banner that WP let through calls DR alone`(version: OSVersion) {
        var rig = PhoneRig(
            version, InstalledApp(bundleID: PhoneRig.chat),
            behaviour: AppBehaviour(presentation: [.alert, .banner, .list]))
        rig.enter(.foregroundActive)
        rig.push(Payload.alert, collapse: "m")
        rig.clear()
        rig.tap("m")
        #expect(rig.calls == ["DR"])
        #expect(rig.state == .foregroundActive)
        #expect(rig.banners == [])
    }

    @Test func `on iOS 6 cannot happen in the foreground, where nothing was shown`() {
        var rig = PhoneRig(6, Self.app(Self.old), in: .foregroundActive)
        rig.push(Payload.alert, collapse: "m")
        rig.clear()
        rig.tap("m")
        #expect(rig.calls == [])
        #expect(rig.faults == ["notification m must be in the list or a banner"])
    }

    @Test(.requirement("S1.13"), arguments: [OSVersion(13), OSVersion(17), OSVersion(26)], ["BR", "SU"])
    func `with scenes comes between their callbacks`(version: OSVersion, state: String) {
        var rig = PhoneRig(version)
        rig.enter(row: state)
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["sceneWEF", "DR", "sceneDBA"])
    }

    @Test(.requirement("S1.13"), arguments: [OSVersion(13), OSVersion(17), OSVersion(26)], ["NK", "NQ"])
    func `with scenes on a cold start comes twice, by SC and DR, and without the key`(
        version: OSVersion, state: String
    ) {
        var rig = PhoneRig(version)
        rig.enter(row: state)
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["WF", "DF", "configuration", "SC(response)", "sceneWEF", "DR", "sceneDBA"])
        let responses = rig.effects.compactMap { effect -> UserResponse? in
            switch effect {
            case .call(_, _, .sceneWillConnect(let response), _): response
            case .call(_, _, .receiveResponse(let response), _): response
            default: nil
            }
        }
        #expect(responses.count == 2)
        #expect(Set(responses).count == 1, "one delivery identity for both reports")
    }

    @Test(.requirement("S1.13"), arguments: ["BR", "SU"])
    func `with a disconnected scene connects it again with the response`(state: String) {
        var rig = PhoneRig(17)
        rig.enter(row: state)
        rig.send(.system(.sceneDisconnected(PhoneRig.chat)))
        #expect(rig.calls == ["sceneDisconnect"])
        rig.pass(seconds: 6)
        #expect(rig.state == .suspended)
        rig.push(Payload.alert, collapse: "m")
        rig.clear()
        rig.tap("m")
        #expect(rig.calls == ["SC(response)", "sceneWEF", "DR", "sceneDBA"])
        #expect(rig.faults == [])
    }

    @Test func `with scenes and no UN delegate is reported by SC alone on a cold start`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(delegate: .never))
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.calls == ["WF", "DF", "configuration", "SC(response)", "sceneWEF", "sceneDBA"])
    }

    @Test func `after a launch in the background connects the first scene`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alertAndContent, collapse: "m")
        rig.clear()
        rig.tap("m")
        #expect(rig.calls == ["configuration", "SC(response)", "sceneWEF", "DR", "sceneDBA"])
    }

    @Test(arguments: [("A", ["WF", "DF", "configuration", "SC(response)", "sceneWEF", "DR", "sceneDBA"])])
    func `on a prewarmed app is a cold one`(column: String, calls: [String]) {
        var rig = PhoneRig(17)
        rig.send(.system(.prewarmed(PhoneRig.chat)))
        #expect(rig.calls == [], "nothing of the app runs before it is asked for")
        #expect(rig.state == .suspended)
        rig.push(Payload.alert, collapse: "m")
        rig.clear()
        rig.tap("m")
        #expect(rig.calls == calls)
        #expect(rig.started == [], "the process is the one that was started in advance")
        #expect(rig.state == .foregroundActive)
    }

    @Test(.requirement("S4.5"), arguments: [OSVersion(9, 3), OSVersion(12), OSVersion(17)])
    func `is none when the icon is used while a notification waits`(version: OSVersion) {
        for state in ["NK", "SU"] {
            var rig = PhoneRig(version, Self.app(version < 10 ? Self.old : .modern))
            rig.enter(row: state)
            rig.push(Payload.alert, collapse: "m")
            rig.clear()
            rig.person(.appOpened(PhoneRig.chat))
            #expect(rig.calls == (state == "NK" ? ["WF", "DF", "DBA"] : ["WEF", "DBA"]))
            #expect(rig.list == ["m"], "opening the app does not clear the list")
        }
    }

    @Test func `unlocks a locked phone first`() {
        var rig = PhoneRig(17)
        rig.person(.locked)
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        #expect(rig.core.screen.lock == .unlocked)
        #expect(rig.core.screen.foregroundApp == PhoneRig.chat)
    }
}
