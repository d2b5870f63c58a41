#if TIDINGS_UIKIT
    import PhoneCore
    import Testing
    import VirtualPhone

    @testable import TidingsAppGroup

    /// What holds the system off on an iPhone while the app group is locked, over the virtual phone's `performExpiringActivity`.
    @MainActor @Suite struct `An expiring activity` {
        @Test func `is granted to a running app, and over when it ends`() async {
            let phone = VirtualPhone(osVersion: 26)
            phone.install(
                InstalledApp(bundleID: "com.example.chat", lifecycle: .application, methods: []),
                code: ProcessCode { process in process.setHandler { _, reply in reply() } })
            await phone.launch()
            await phone.home()
            var activity: ExpiringActivity?
            var isGranted = false
            await phone.inApp {
                let begun = ExpiringActivity()
                isGranted = begun.begin()
                activity = begun
            }
            #expect(isGranted)
            await phone.advance(by: .seconds(8))
            #expect(phone.state() == .backgroundRunning)
            activity?.end()
            // The block returns on a thread of its own.
            for _ in 0..<2_000 where phone.state() != .suspended {
                try? await Task.sleep(for: .milliseconds(1))
                await phone.advance(by: .milliseconds(1))
            }
            #expect(phone.state() == .suspended)
            #expect(phone.faults == [])
        }
    }
#endif
