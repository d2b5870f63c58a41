import Testing
import TidingsModel

@testable import PhoneCore

/// One cell of ios-delivery.md §5: what is called and whether it is shown.
struct Cell: Sendable, CustomTestStringConvertible {
    var state: AppState
    var payload: String
    var calls: [String]
    var shown: Bool

    init(_ state: AppState, _ payload: String, _ calls: [String], shown: Bool) {
        self.state = state
        self.payload = payload
        self.calls = calls
        self.shown = shown
    }

    var testDescription: String { "\(self.payload) in \(self.state)" }

    func play(_ rig: inout PhoneRig) {
        rig.enter(self.state)
        switch self.payload {
        case "A": rig.push(Payload.alert, collapse: "m")
        case "AC": rig.push(Payload.alertAndContent, collapse: "m")
        case "C": rig.push(Payload.content)
        case "M": rig.push(Payload.mutable, collapse: "m")
        default: rig.fireLocal()
        }
    }
}

extension PhoneRig {
    /// A local notification scheduled before the app came into its state, due now.
    mutating func fireLocal() {
        let index = self.core.index(of: Self.chat) ?? 0
        self.core.apps[index].pending = [
            ScheduledRequest(
                request: NotificationRequest(
                    identifier: "m", content: NotificationContent(body: "hello", sound: .standard),
                    trigger: .timeInterval(milliseconds: 1, repeats: false)),
                fireAt: self.now.monotonic)
        ]
        self.send(.timerReached)
    }
}

@Suite struct `An arrival on iOS 17 with scenes` {
    static let launch = ["WF", "DF(remoteNotification)", "RF(background)"]
    static let cells: [Cell] = [
        Cell(.foregroundActive, "A", ["WP"], shown: true),
        Cell(.foregroundActive, "AC", ["RF(active)", "WP"], shown: true),
        Cell(.foregroundActive, "C", ["RF(active)"], shown: false),
        Cell(.foregroundActive, "M", ["NSE", "WP"], shown: true),
        Cell(.foregroundActive, "L", ["WP"], shown: true),
        Cell(.foregroundInactive, "A", ["WP"], shown: true),
        Cell(.foregroundInactive, "AC", ["RF(inactive)", "WP"], shown: true),
        Cell(.foregroundInactive, "C", ["RF(inactive)"], shown: false),
        Cell(.foregroundInactive, "M", ["NSE", "WP"], shown: true),
        Cell(.foregroundInactive, "L", ["WP"], shown: true),
        Cell(.backgroundRunning, "A", [], shown: true),
        Cell(.backgroundRunning, "AC", ["RF(background)"], shown: true),
        Cell(.backgroundRunning, "C", ["RF(background)"], shown: false),
        Cell(.backgroundRunning, "M", ["NSE"], shown: true),
        Cell(.backgroundRunning, "L", [], shown: true),
        Cell(.suspended, "A", [], shown: true),
        Cell(.suspended, "AC", ["RF(background)"], shown: true),
        Cell(.suspended, "C", ["RF(background)"], shown: false),
        Cell(.suspended, "M", ["NSE"], shown: true),
        Cell(.suspended, "L", [], shown: true),
        Cell(.notRunning, "A", [], shown: true),
        Cell(.notRunning, "AC", launch, shown: true),
        Cell(.notRunning, "C", launch, shown: false),
        Cell(.notRunning, "M", ["NSE"], shown: true),
        Cell(.notRunning, "L", [], shown: true),
        Cell(.forceQuit, "A", [], shown: true),
        Cell(.forceQuit, "AC", [], shown: true),
        Cell(.forceQuit, "C", [], shown: false),
        Cell(.forceQuit, "M", ["NSE"], shown: true),
        Cell(.forceQuit, "L", [], shown: true),
    ]

    @Test(arguments: cells) func `calls and shows what its row says`(cell: Cell) {
        var rig = PhoneRig(17)
        cell.play(&rig)
        #expect(rig.calls == cell.calls)
        #expect(rig.list == (cell.shown ? ["m"] : []))
        #expect(rig.rings == (cell.shown ? 1 : 0))
        #expect(rig.faults == [])
        #expect(rig.acknowledged.count == (cell.payload == "L" ? 0 : 1))
    }

    @Test func `wakes without the launch option from iOS 26`() {
        var rig = PhoneRig(26)
        rig.push(Payload.content)
        #expect(rig.calls == ["WF", "DF", "RF(background)"])
    }
}

@Suite struct `An arrival on iOS 12 without scenes` {
    static let chat = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application)
    static let cells: [Cell] = [
        Cell(.foregroundActive, "A", ["WP"], shown: true),
        Cell(.foregroundActive, "AC", ["RF(active)", "WP"], shown: true),
        Cell(.foregroundActive, "C", ["RF(active)"], shown: false),
        Cell(.backgroundRunning, "AC", ["RF(background)"], shown: true),
        Cell(.suspended, "M", ["NSE"], shown: true),
        Cell(.notRunning, "C", ["WF", "DF(remoteNotification)", "RF(background)"], shown: false),
        Cell(.forceQuit, "AC", [], shown: true),
    ]

    @Test(arguments: cells) func `calls and shows what its row says`(cell: Cell) {
        var rig = PhoneRig(12, Self.chat, behaviour: AppBehaviour(presentation: .alert))
        cell.play(&rig)
        #expect(rig.calls == cell.calls)
        #expect(rig.list == (cell.shown ? ["m"] : []))
        #expect(rig.faults == [])
    }

    @Test func `meets the old callbacks in front without a UN delegate, and shows nothing`() {
        var rig = PhoneRig(12, Self.chat, behaviour: AppBehaviour(delegate: .never))
        rig.enter(.foregroundActive)
        rig.push(Payload.alert)
        rig.push(Payload.alertAndContent)
        #expect(rig.calls == ["RF(active)", "RF(active)"])
        #expect(rig.presentations.map(\.reason) == [.inFrontWithoutDelegate, .inFrontWithoutDelegate])
    }
}

@Suite struct `An arrival before iOS 10` {
    static let both: DelegateMethods = [.receiveRemote, .receiveRemoteFetch, .receiveLocal]
    static let cells9: [Cell] = [
        Cell(.foregroundActive, "A", ["RF(active)"], shown: false),
        Cell(.foregroundActive, "AC", ["RF(active)"], shown: false),
        Cell(.foregroundInactive, "C", ["RF(inactive)"], shown: false),
        Cell(.foregroundActive, "L", ["L0(active)"], shown: false),
        Cell(.backgroundRunning, "A", [], shown: true),
        Cell(.backgroundRunning, "AC", ["RF(background)"], shown: true),
        Cell(.suspended, "M", [], shown: true),
        Cell(.suspended, "C", ["RF(background)"], shown: false),
        Cell(.notRunning, "AC", ["WF", "DF(remoteNotification)", "RF(background)"], shown: true),
        Cell(.forceQuit, "AC", [], shown: true),
        Cell(.forceQuit, "L", [], shown: true),
    ]
    static let cells6: [Cell] = [
        Cell(.foregroundActive, "A", ["R0(active)"], shown: false),
        Cell(.foregroundInactive, "A", ["R0(inactive)"], shown: false),
        Cell(.foregroundActive, "L", ["L0(active)"], shown: false),
        Cell(.backgroundRunning, "AC", [], shown: true),
        Cell(.backgroundRunning, "C", [], shown: false),
        Cell(.suspended, "A", [], shown: true),
        Cell(.notRunning, "AC", [], shown: true),
        Cell(.notRunning, "L", [], shown: true),
    ]

    @Test(arguments: cells9) func `calls and shows on iOS 9 what its row says`(cell: Cell) {
        var rig = PhoneRig(OSVersion(9, 3), InstalledApp(bundleID: PhoneRig.chat, methods: Self.both))
        cell.play(&rig)
        #expect(rig.calls == cell.calls)
        #expect(rig.list == (cell.shown ? ["m"] : []))
    }

    @Test(arguments: cells6) func `calls and shows on iOS 6 what its row says`(cell: Cell) {
        var rig = PhoneRig(OSVersion(6, 1), InstalledApp(bundleID: PhoneRig.chat, methods: Self.both))
        cell.play(&rig)
        #expect(rig.calls == cell.calls)
        #expect(rig.list == (cell.shown ? ["m"] : []))
    }
}
