import BackgroundTasks
import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsModel
import VirtualPhone

@MainActor @Suite struct `An app refresh task` {
    private let notes = Notes()
    private let identifier = "com.example.chat.refresh"

    private func phone(completes: Bool = true) async -> VirtualPhone {
        await launchedPhone(modes: [.fetch, .remoteNotification], tasks: [self.identifier]) { [notes, identifier] in
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: .main) { task in
                notes.add("runs \(task is BGAppRefreshTask)")
                task.expirationHandler = {
                    notes.add("expires")
                    task.setTaskCompleted(success: false)
                }
                if completes { task.setTaskCompleted(success: true) }
            }
        }
    }

    private func outcomes(_ phone: VirtualPhone) -> [RefreshTaskOutcome] {
        phone.trace.compactMap { if case .refreshTask(_, let outcome) = $0.entry { outcome } else { nil } }
    }

    @Test(.requirement("S4.13")) func `runs when the system sees a chance, and is over when it says so`() async throws {
        let phone = await self.phone()
        try await phone.inApp {
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: self.identifier))
            let pending = await BGTaskScheduler.shared.pendingTaskRequests()
            #expect(pending.map(\.identifier) == [self.identifier])
        }
        await phone.home()
        await phone.advance(by: .seconds(10))
        await phone.giveBackgroundChance()
        #expect(self.notes.all == ["runs true"])
        #expect(self.outcomes(phone) == [.submitted, .launched, .completed])
        #expect(phone.faults == [])
    }

    @Test func `is told that its time is up`() async throws {
        let phone = await self.phone(completes: false)
        try await phone.inApp {
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: self.identifier))
        }
        await phone.home()
        await phone.advance(by: .seconds(10))
        await phone.giveBackgroundChance()
        await phone.advance(by: .seconds(31))
        #expect(self.notes.all == ["runs true", "expires"])
        #expect(self.outcomes(phone) == [.submitted, .launched, .expired, .failed])
    }

    @Test func `asks for the next from its launch handler, on a queue in the background`() async throws {
        let phone = await self.phone()
        let again = "com.example.chat.again"
        let notes = self.notes
        phone.install(
            InstalledApp(
                bundleID: "com.example.other", lifecycle: .application, methods: [], backgroundModes: .fetch,
                hasServiceExtension: false, permittedTasks: [again]),
            code: ProcessCode { process in
                process.setHandler { callback, reply in
                    if case .didFinishLaunching = callback {
                        BGTaskScheduler.shared.register(forTaskWithIdentifier: again, using: nil) { task in
                            do {
                                try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: again))
                                notes.add("submitted")
                            } catch {
                                notes.add("\(error)")
                            }
                            task.setTaskCompleted(success: true)
                        }
                    }
                    reply()
                }
            })
        await phone.launch("com.example.other")
        try await phone.inApp("com.example.other") {
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: again))
        }
        await phone.home()
        await phone.advance(by: .seconds(10))
        await phone.giveBackgroundChance(to: "com.example.other")
        #expect(self.notes.all == ["submitted"])
        #expect(self.outcomes(phone) == [.submitted, .launched, .submitted, .completed])
    }

    @Test func `is taken back by its identifier`() async throws {
        let phone = await self.phone()
        try await phone.inApp {
            let request = BGAppRefreshTaskRequest(identifier: self.identifier)
            request.earliestBeginDate = Date(timeIntervalSince1970: 1_767_229_200)
            try BGTaskScheduler.shared.submit(request)
            let pending = await BGTaskScheduler.shared.pendingTaskRequests()
            #expect(pending.map(\.earliestBeginDate) == [request.earliestBeginDate])
            BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: self.identifier)
            #expect(await BGTaskScheduler.shared.pendingTaskRequests().isEmpty)
        }
        #expect(self.outcomes(phone) == [.submitted, .cancelled])
    }

    @Test(
        arguments: [
            (-.infinity, true), (.nan, true), (-1e300, true), (-1e17, true), (1e17, false), (1e300, false),
            (.infinity, false),
        ] as [(Double, Bool)])
    func `takes any date, and one beyond all clocks never comes`(seconds: Double, isLaunched: Bool) async throws {
        let phone = await self.phone()
        try await phone.inApp {
            let request = BGAppRefreshTaskRequest(identifier: self.identifier)
            request.earliestBeginDate = Date(timeIntervalSince1970: seconds)
            try BGTaskScheduler.shared.submit(request)
            #expect(await BGTaskScheduler.shared.pendingTaskRequests().count == 1)
        }
        await phone.home()
        await phone.advance(by: .seconds(10))
        await phone.giveBackgroundChance()
        #expect(self.outcomes(phone).contains(.launched) == isLaunched)
    }

    @Test func `that is not permitted is refused by name`() async {
        let phone = await self.phone()
        await phone.inApp {
            do {
                try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "com.example.other"))
                Issue.record("the request was taken")
            } catch BGTaskScheduler.Error.notPermitted {
                // As on an iPhone.
            } catch {
                Issue.record("\(error)")
            }
            let again = BGTaskScheduler.shared.register(forTaskWithIdentifier: self.identifier, using: nil) { _ in }
            #expect(!again)
        }
    }
}
