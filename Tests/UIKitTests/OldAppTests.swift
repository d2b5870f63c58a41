import PhoneCore
import Requirements
import Testing
import TidingsModel
import VirtualPhone

@MainActor @Suite struct `An app of the old callbacks` {
    let notebook = Notebook()

    @Test(.requirement("S1.9", "S1.10"))
    func `on iOS 9 hears of pushes by RF, in the foreground, on waking and on a tap`() async {
        let phone = await oldPhone(9, self.notebook)
        await phone.deliver(["aps": ["alert": "a"], "k": "front"])
        #expect(self.notebook.lines == ["RF active front"])
        #expect(phone.screen.list == [])
        await phone.home()
        await phone.advance(by: .seconds(10))
        #expect(phone.state() == .suspended)
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "a", "content-available": 1], "k": "both"])
        await phone.tap()
        #expect(self.notebook.lines.first == "RF background both")
        #expect(self.notebook.lines.filter { $0.hasPrefix("RF") } == ["RF background both", "RF inactive both"])
        #expect(phone.faults == [])
    }

    @Test(.requirement("S1.3", "S1.5", "S4.4"))
    func `on iOS 6 hears of a tap by R0, and by the launch options when it was gone`() async {
        let phone = await oldPhone(6, self.notebook)
        await phone.home()
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "a"], "k": "away"])
        await phone.tap()
        #expect(self.notebook.lines == ["WEF", "R0 inactive away", "DBA"])
        await phone.forceQuit()
        self.notebook.clear()
        await phone.deliver(["aps": ["alert": "a"], "k": "gone"])
        await phone.tap()
        #expect(self.notebook.lines == ["DF remote gone", "DBA"])
    }

    @Test(.requirement("S0.9", "S3.11"))
    func `gets its own local notification back by L0`() async {
        let phone = await oldPhone(9, self.notebook)
        await phone.home()
        await phone.inApp { presentLocalNow("over the socket") }
        self.notebook.clear()
        #expect(phone.screen.list.map(\.notification.request.content.body) == ["over the socket"])
        await phone.tap()
        #expect(self.notebook.lines == ["WEF", "L0 inactive over the socket", "DBA"])
    }

    @Test(.requirement("S2.17"))
    func `is told of its end only if it runs`() async {
        let phone = await oldPhone(17, self.notebook)
        await phone.forceQuit()
        #expect(self.notebook.lines.last == "WT")
        await phone.launch()
        await phone.home()
        await phone.advance(by: .seconds(10))
        self.notebook.clear()
        await phone.forceQuit()
        #expect(self.notebook.lines == [])
        #expect(phone.state() == .forceQuit)
    }
}

@MainActor @Suite struct `Two phones in one process` {
    @Test func `do not hear of each other`() async {
        let left = Notebook()
        let right = Notebook()
        let first = await phoneInForeground(notebook: left)
        let second = await phoneInForeground(notebook: right)
        left.clear()
        right.clear()
        await first.deliver(alert("left"))
        #expect(left.lines == ["WP left"])
        #expect(right.lines == [])
        #expect(second.screen.list == [])
        let states = await second.inApp { iconBadgeNumber() }
        #expect(states == 0)
        await first.home()
        #expect(first.state() == .backgroundRunning)
        #expect(second.state() == .foregroundActive)
    }

    @Test func `lose what a killed app held, and nothing it still does has an effect`() async {
        let notebook = Notebook()
        let phone = await phoneInForeground(notebook: notebook)
        let process = phone.process()
        await phone.terminate()
        #expect(process?.isAlive == false)
        #expect(phone.process() == nil)
        await phone.launch()
        #expect(phone.process() !== process)
        #expect(notebook.lines.filter { $0 == "DF []" }.count == 2)
    }
}
