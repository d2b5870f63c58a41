import PhoneCore
import Requirements
import Testing
import TidingsModel
import VirtualPhone

@MainActor @Suite struct `An app of iOS 6` {
    let notebook = Notebook()

    private func phone() async -> VirtualPhone {
        await eraPhone(6, [.receiveRemote, .receiveLocal], notebook: self.notebook) { [notebook] in
            SixDelegate(notebook)
        }
    }

    @Test(.requirement("S1.3", "S4.2", "S4.6"))
    func `shows its own banner in the foreground, with the system sound and the vibration`() async {
        let phone = await self.phone()
        #expect(self.notebook.lines == ["DF", "token 64"])
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": ["body": "hi"]], "k": "a"])
        #expect(self.notebook.lines == ["R0 banner hi"])
        let sounds = phone.trace.compactMap { if case .systemSound(let sound) = $0.entry { sound } else { nil } }
        #expect(sounds == [SystemSound(number: 1_007), SystemSound(number: SystemSound.vibration)])
        #expect(sounds.map(\.vibrates) == [false, true])
        #expect(phone.screen.list == [])
        #expect(phone.faults == [])
    }

    @Test(.requirement("S1.5", "S4.3", "S4.5"))
    func `opens the screen by R0 if it lived, and by the launch option if it was gone`() async {
        let phone = await self.phone()
        await phone.home()
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "hi", "sound": "default"], "k": "away"])
        #expect(self.notebook.lines == [])
        #expect(phone.presentations.last?.sound == true)
        await phone.tap()
        #expect(self.notebook.lines == ["R0 open away"])
        await phone.forceQuit()
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "hi"], "k": "gone"])
        await phone.tap()
        #expect(self.notebook.lines.filter { $0.hasPrefix("DF") || $0.hasPrefix("R0") } == ["DF remote gone"])
        #expect(phone.faults == [])
    }

    @Test func `cannot be woken by a silent push`() async {
        let phone = await self.phone()
        await phone.home()
        self.notebook.clear()
        await phone.deliver(["aps": ["content-available": 1], "k": "silent"], pushType: "background")
        #expect(self.notebook.lines == [])
    }
}

@MainActor @Suite struct `An app of iOS 9` {
    let notebook = Notebook()

    private func phone() async -> VirtualPhone {
        await eraPhone(9, NineDelegate.methods, notebook: self.notebook) { [notebook] in NineDelegate(notebook) }
    }

    @Test func `is told what the person allowed and what they allow now`() async {
        let phone = await self.phone()
        #expect(self.notebook.lines == ["DF -", "allowed 7"])
        let types = await phone.inApp { allowedTypes() }
        #expect(types == 7)
        await phone.set(.sound, to: false)
        #expect(await phone.inApp { allowedTypes() } == 5)
    }

    @Test(.requirement("S1.7", "S1.8", "S4.4"))
    func `hears of an arrival in the foreground, on waking and after a cold tap by RF`() async {
        let phone = await self.phone()
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "hi"], "k": "front"])
        await phone.home()
        await phone.advance(by: .seconds(10))
        await phone.deliver(["aps": ["content-available": 1], "k": "silent"], pushType: "background")
        #expect(self.notebook.lines == ["RF active front", "RF background silent"])
        await phone.terminate()
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "hi"], "k": "gone"])
        await phone.tap()
        #expect(self.notebook.lines.filter { !$0.hasPrefix("allowed") } == ["DF remote", "RF inactive gone"])
        #expect(phone.faults == [])
    }

    @Test func `gets its actions, with text by the form of iOS 9, in the background or in the foreground`() async {
        let phone = await self.phone()
        await phone.home()
        await phone.advance(by: .seconds(10))
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "question", "category": "message"], "k": "q"])
        await phone.perform(action: "reply", text: "yes")
        #expect(self.notebook.lines == ["AR9 reply yes"])
        #expect(phone.state() != .foregroundActive)
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "question", "category": "message"], "k": "q2"])
        await phone.perform(action: "show")
        #expect(self.notebook.lines.count == 1)
        #expect(phone.state() == .foregroundActive)
        #expect(phone.faults == [])
    }

    @Test(.requirement("S4.13")) func `fetches in the background when the system sees a chance`() async {
        let phone = await self.phone()
        await phone.home()
        await phone.advance(by: .seconds(10))
        self.notebook.clear()
        await phone.giveBackgroundChance()
        #expect(self.notebook.lines == ["PF background"])
        #expect(phone.faults == [])
    }

    @Test func `finds a local notification among those the system keeps, until it is changed`() async {
        let phone = await self.phone()
        #expect(await phone.inApp { isAmongScheduled() } == [true, false, true])
    }

    @Test(.requirement("S0.9", "S3.11")) func `schedules, lists and cancels local notifications`() async {
        let phone = await self.phone()
        await phone.home()
        let now = await phone.inApp { scheduleThree() }
        #expect(now == ["in an hour every 8", "in two hours", "with action Look"])
        await phone.inApp { cancelLocal("in two hours") }
        #expect(await phone.inApp { scheduledBodies() } == ["in an hour", "with action"])
        await phone.inApp { cancelAllLocal() }
        #expect(await phone.inApp { scheduledBodies() } == [])
    }
}

@MainActor @Suite struct `An app of iOS 12` {
    let notebook = Notebook()

    private func phone() async -> VirtualPhone {
        await eraPhone(12, TwelveDelegate.methods, notebook: self.notebook) { [notebook] in TwelveDelegate(notebook) }
    }

    @Test(.requirement("S1.12", "S1.13", "S1.14"))
    func `presents in the foreground as WP says and navigates by DR, also from a cold start`() async {
        let phone = await self.phone()
        #expect(self.notebook.lines.contains("granted true"))
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "hi"]])
        #expect(self.notebook.lines == ["WP hi"])
        #expect(phone.presentations.last?.banner == true)
        await phone.home()
        await phone.advance(by: .seconds(10))
        self.notebook.clear()
        await phone.tap()
        #expect(self.notebook.lines == ["WEF", "DR tap", "DBA"])
        await phone.forceQuit()
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "again"]])
        await phone.tap()
        #expect(self.notebook.lines.filter { !$0.hasPrefix("granted") } == ["DF remote", "DR tap", "DBA"])
        #expect(phone.faults == [])
    }

    @Test func `hears of actions, of a dismissal and of the settings button`() async {
        let phone = await self.phone()
        await phone.home()
        await phone.advance(by: .seconds(10))
        self.notebook.clear()
        let invitation: JSONValue = ["aps": ["alert": "party", "category": "invitation"]]
        await phone.deliver(invitation)
        await phone.perform(action: "accept")
        await phone.deliver(invitation)
        await phone.dismiss()
        #expect(self.notebook.lines == ["DR accept", "DR dismiss"])
        self.notebook.clear()
        await phone.deliver(invitation)
        await phone.openNotificationSettings()
        #expect(self.notebook.lines.contains("OPS party"))
        #expect(phone.faults == [])
    }

    @Test(.requirement("S4.9")) func `answers a silent push in its async form`() async {
        let phone = await self.phone()
        await phone.home()
        await phone.advance(by: .seconds(10))
        self.notebook.clear()
        await phone.deliver(["aps": ["content-available": 1], "k": "v"], pushType: "background")
        #expect(self.notebook.lines == ["RF background v"])
        let answers = phone.trace.compactMap { line -> FetchResult? in
            if case .completion(_, .fetch(let result)) = line.entry { result } else { nil }
        }
        #expect(answers == [.newData])
    }
}

@MainActor @Suite struct `Calls of UIApplication and UIDevice` {
    let notebook = Notebook()

    @Test func `tell the version, the vendor's identifier and what the person changed`() async {
        let phone = await phoneInForeground(17, notebook: self.notebook)
        let first = await phone.inApp { deviceFacts() }
        #expect(first.version == "17.0")
        #expect(first.name == "iOS")
        #expect(first.vendor != nil)
        #expect(first.refresh == 2)
        #expect(!first.isLowPower)
        #expect(first.isProtectedDataAvailable)
        await phone.setLowPowerMode(true)
        await phone.set(.backgroundRefresh, to: false)
        let second = await phone.inApp { deviceFacts() }
        #expect(second.vendor == first.vendor)
        #expect(second.isLowPower)
        #expect(second.refresh == 1)
        await phone.restrictBackgroundRefresh(true)
        #expect(await phone.inApp { deviceFacts().refresh } == 0)
    }

    @Test func `post a notification when Background App Refresh is turned off`() async {
        let phone = await phoneInForeground(17, notebook: self.notebook)
        await phone.inApp { noteRefreshChanges(in: self.notebook) }
        self.notebook.clear()
        await phone.set(.backgroundRefresh, to: false)
        #expect(self.notebook.lines == ["refresh changed"])
    }
}
