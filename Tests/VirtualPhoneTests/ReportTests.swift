import Testing
import TidingsModel
import VirtualPhone

@testable import PhoneCore

@MainActor @Suite struct `An app that tells its phone what the phone cannot see` {
    private func phone(_ version: OSVersion = 17) async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: version)
        phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [], hasServiceExtension: false),
            code: ProcessCode { process in process.setHandler { _, reply in reply() } })
        await phone.launch()
        return phone
    }

    private func ends(_ phone: VirtualPhone) -> [EndReason] {
        phone.trace.compactMap { if case .processEnded(_, let reason) = $0.entry { reason } else { nil } }
    }

    @Test func `is killed if it is suspended while it holds a lock in its app group, and only then`() async {
        let phone = await self.phone()
        await phone.inApp {
            PhoneReport.lockTaken("ledger")
            PhoneReport.lockReleased("ledger")
        }
        await phone.home()
        await phone.advance(by: .seconds(10))
        #expect(phone.state() == .suspended)
        #expect(self.ends(phone) == [])
        await phone.launch()
        await phone.inApp { PhoneReport.lockTaken("ledger") }
        await phone.home()
        await phone.advance(by: .seconds(10))
        #expect(self.ends(phone) == [.heldLockWhileSuspended])
    }

    @Test func `hears of its Live Activity's token and of a push that changes it`() async {
        let phone = await self.phone()
        let activities = await phone.inApp { () -> PhoneActivities in
            PhoneActivities.shared.start("score", pushType: .token, contentState: ["home": 0])
            return PhoneActivities.shared
        }
        var iterator = activities.events.makeAsyncIterator()
        guard case .token("score", let token) = await iterator.next() else {
            Issue.record("there is no token")
            return
        }
        #expect(token.rawValue.count == 64)
        await phone.deliverActivity(
            ["aps": ["timestamp": 1_767_225_600, "event": "update", "content-state": ["home": 1]]], activity: "score")
        #expect(
            await iterator.next()
                == .changed(ActivityUpdate(activity: "score", change: .updated, contentState: ["home": 1])))
        #expect(phone.screen.activities.map(\.contentState) == [["home": 1]])
    }

    @Test func `hears of a broadcast on the channel of its Live Activity, and of no other`() async {
        let phone = await self.phone(18)
        await phone.inApp {
            PhoneActivities.shared.start("score", pushType: .channel("cup"), contentState: ["home": 0])
        }
        let update: (Int64) -> JSONValue = { home in
            ["aps": ["timestamp": 1_767_225_600, "event": "update", "content-state": ["home": .int(home)]]]
        }
        await phone.broadcast(update(1), channel: "league")
        #expect(phone.screen.activities.map(\.contentState) == [["home": 0]])
        await phone.broadcast(update(2), channel: "cup")
        #expect(phone.screen.activities.map(\.contentState) == [["home": 2]])
        await phone.inApp { PhoneActivities.shared.end("score") }
        await phone.broadcast(update(3), channel: "cup")
        #expect(phone.screen.activities.map(\.contentState) == [["home": 2]])
        #expect(phone.faults.isEmpty)
    }
}
