import PhoneCore
import Requirements
import Testing
import TidingsModel

/// The tables of ios-delivery.md §5, cell by cell.
@Suite struct `An arrival` {
    static let both: DelegateMethods = [.receiveRemote, .receiveRemoteFetch, .receiveLocal]

    static func app(_ methods: DelegateMethods) -> InstalledApp {
        InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: methods)
    }

    @Test(
        .requirement("S4.1"),
        arguments: [(OSVersion(6, 1), "R0(active)"), (OSVersion(9, 3), "RF(active)"), (12, "WP"), (17, "WP")])
    func `meets the app in the foreground, in the background, or not started`(version: OSVersion, inForeground: String)
    {
        func met(_ state: AppState) -> PhoneRig {
            var rig = PhoneRig(version, Self.app(version < 10 ? Self.both : .modern))
            rig.enter(state)
            rig.push(Payload.alert, collapse: "m")
            return rig
        }
        // In the foreground the app is told at once, and stays where it is.
        let front = met(.foregroundActive)
        #expect(front.calls == [inForeground])
        #expect(front.state == .foregroundActive)
        // Elsewhere the person is told and the app is not; one that is not started is started by the tap, not by the push.
        for state in [AppState.backgroundRunning, .suspended, .notRunning] {
            var rig = met(state)
            #expect(rig.calls == [])
            #expect(rig.state == state)
            #expect(rig.list == ["m"])
            rig.tap("m")
            #expect(rig.calls.contains("DF(remoteNotification)") == (state == .notRunning))
            #expect(rig.state == .foregroundActive)
        }
    }

    static let table6 = ArrivalCell.table(
        """
        5.1 | A                 | AC                | C          | L
        FA  | R0(active) hidden | R0(active) hidden | R0(active) | L0(active) hidden
        FI  | R0(inactive) hidden | R0(inactive) hidden | R0(inactive) | L0(inactive) hidden
        BR  | show              | show              | -          | show
        SU  | show              | show              | -          | show
        NK  | show              | show              | -          | show
        NQ  | show              | show              | -          | show
        BFU | show              | show              | -          | show
        """)

    @Test(.requirement("S1.3", "S1.4", "S4.2"), arguments: table6)
    func `on iOS 6 calls and shows what its cell says`(cell: ArrivalCell) {
        #expect(cell.play(on: PhoneRig(OSVersion(6, 1), Self.app(Self.both))) == cell.story)
    }

    static let table9 = ArrivalCell.table(
        """
        5.2 | A                 | AC                     | C                    | L
        FA  | RF(active) hidden | RF(active) hidden      | RF(active)           | L0(active) hidden
        FI  | RF(inactive) hidden | RF(inactive) hidden  | RF(inactive)         | L0(inactive) hidden
        BR  | show              | show woken | woken | show
        SU  | show              | show woken | woken | show
        NK  | show | show launched | launched | show
        NQ  | show              | show lost              | lost                 | show
        BFU | show              | show held              | held                 | show
        """)

    @Test(.requirement("S1.7", "S1.9", "S1.10"), arguments: table9)
    func `on iOS 9 calls and shows what its cell says`(cell: ArrivalCell) {
        #expect(cell.play(on: PhoneRig(OSVersion(9, 3), Self.app(Self.both))) == cell.story)
    }

    @Test(.requirement("S1.1", "S1.7"), arguments: table9)
    func `on iOS 7 is the same as on iOS 9`(cell: ArrivalCell) {
        #expect(cell.play(on: PhoneRig(7, Self.app(Self.both))) == cell.story)
    }

    static let tableR0 = ArrivalCell.table(
        """
        5.2 | A                   | AC                  | C            | L
        FA  | R0(active) hidden   | R0(active) hidden   | R0(active)   | L0(active) hidden
        FI  | R0(inactive) hidden | R0(inactive) hidden | R0(inactive) | L0(inactive) hidden
        BR  | show                | show deaf           | deaf         | show
        SU  | show                | show deaf           | deaf         | show
        NK  | show                | show deaf           | deaf         | show
        NQ  | show                | show deaf           | deaf         | show
        BFU | show                | show deaf           | deaf         | show
        """)

    @Test(.requirement("S4.9"), arguments: tableR0)
    func `on iOS 9 wakes no app with R0 only`(cell: ArrivalCell) {
        let rig = PhoneRig(OSVersion(9, 3), Self.app([.receiveRemote, .receiveLocal]))
        #expect(cell.play(on: rig) == cell.story)
    }

    static let table12 = ArrivalCell.table(
        """
        5.3 | A       | AC                      | C            | L       | M
        FA  | WP show | RF(active) WP show      | RF(active)   | WP show | NSE WP show
        FI  | WP show | RF(inactive) WP show    | RF(inactive) | WP show | NSE WP show
        BR  | show    | show woken | woken | show | NSE show
        SU  | show    | show woken | woken | show | NSE show
        NK  | show | show launched | launched | show | NSE show
        NQ  | show    | show lost               | lost         | show    | NSE show
        BFU | show    | show held               | held         | show    | NSE show
        """)

    @Test(.requirement("S1.2", "S1.14", "S4.9"), arguments: table12)
    func `on iOS 12 with a UN delegate calls and shows what its cell says`(cell: ArrivalCell) {
        let rig = PhoneRig(12, Self.app(.modern), behaviour: AppBehaviour(presentation: [.alert, .sound, .badge]))
        #expect(cell.play(on: rig) == cell.story)
    }

    @Test(.requirement("S1.1", "S1.14"), arguments: table12)
    func `on iOS 10 is the same as on iOS 12`(cell: ArrivalCell) {
        let rig = PhoneRig(10, Self.app(.modern), behaviour: AppBehaviour(presentation: [.alert, .sound, .badge]))
        #expect(cell.play(on: rig) == cell.story)
    }

    static let tableWithoutDelegate = ArrivalCell.table(
        """
        5.3 | A            | AC           | C            | L
        FA  | RF(active) alone | RF(active) alone | RF(active) | L0(active) alone
        FI  | RF(inactive) alone | RF(inactive) alone | RF(inactive) | L0(inactive) alone
        BR  | show         | show woken | woken | show
        """)

    @Test(.requirement("S1.12"), arguments: tableWithoutDelegate)
    func `on iOS 12 without a UN delegate meets the old callbacks`(cell: ArrivalCell) {
        let rig = PhoneRig(12, Self.app(Self.both), behaviour: AppBehaviour(delegate: .never))
        #expect(cell.play(on: rig) == cell.story)
    }

    static let tableR0WithoutDelegate = ArrivalCell.table(
        """
        5.3 | A                                       | AC                                      | C
        FA  | R0(active) alone | R0(active) alone | R0(active)
        """)

    @Test(.requirement("S1.6"), arguments: tableR0WithoutDelegate)
    func `on iOS 12 without a UN delegate and RF meets R0`(cell: ArrivalCell) {
        let rig = PhoneRig(12, Self.app(.receiveRemote), behaviour: AppBehaviour(delegate: .never))
        #expect(cell.play(on: rig) == cell.story)
    }

    static let tableWithoutWP = ArrivalCell.table(
        """
        5.3 | A                        | AC                                  | C          | L
        FA  | none(willPresentMissing) | RF(active) none(willPresentMissing) | RF(active) | none(willPresentMissing)
        """)

    @Test(.requirement("S1.14"), arguments: tableWithoutWP)
    func `on iOS 12 without WP presents nothing in the foreground`(cell: ArrivalCell) {
        let rig = PhoneRig(12, Self.app([.receiveRemoteFetch, .receiveResponse]))
        #expect(cell.play(on: rig) == cell.story)
    }

    @Test(.requirement("S1.14"), arguments: ["A", "L"])
    func `on iOS 12 presents nothing in the foreground if WP is silent for five seconds`(column: String) {
        var rig = PhoneRig(12, Self.app(.modern), behaviour: AppBehaviour(presentation: nil), in: .foregroundActive)
        if column == "A" { rig.push(Payload.alert, collapse: "m") } else { rig.fireLocal() }
        rig.pass(milliseconds: 4_999)
        #expect(rig.story == ["WP"])
        rig.pass(milliseconds: 1)
        #expect(rig.story == ["WP", "none(willPresentLate)"])
    }

    static let tableScenes = ArrivalCell.table(
        """
        5.4 | A       | AC                      | C            | L       | M
        FA  | WP show | RF(active) WP show      | RF(active)   | WP show | NSE WP show
        FI  | WP show | RF(inactive) WP show    | RF(inactive) | WP show | NSE WP show
        BR  | show    | show woken | woken | show | NSE show
        SU  | show    | show woken | woken | show | NSE show
        NK  | show | show launched | launched | show | NSE show
        NQ  | show    | show lost               | lost         | show    | NSE show
        BFU | show    | show held               | held         | show    | NSE show
        """)

    @Test(.requirement("S1.14", "S4.13"), arguments: tableScenes)
    func `on iOS 17 with scenes calls and shows what its cell says`(cell: ArrivalCell) {
        #expect(cell.play(on: PhoneRig(17)) == cell.story)
    }

    @Test(.requirement("S1.14"), arguments: tableScenes)
    func `on iOS 26 with scenes wakes without the launch option`(cell: ArrivalCell) {
        let story = cell.story.map { $0 == "DF(remoteNotification)" ? "DF" : $0 }
        #expect(cell.play(on: PhoneRig(26)) == story)
    }

    @Test func `with sound or badge and content-available counts as AC`() {
        for aps: JSONValue in [["sound": "default", "content-available": 1], ["badge": 2, "content-available": 1]] {
            var rig = PhoneRig(12, Self.app(.modern), in: .foregroundActive)
            rig.push(["aps": aps])
            #expect(rig.calls == ["RF(active)", "WP"])
        }
    }
}
