import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsModel
import UserNotifications
import VirtualPhone

@MainActor @Suite struct `An app with scenes on iOS 17` {
    let notebook = Notebook()

    @Test func `is launched, connected and asked to register in Apple's order`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        #expect(
            self.notebook.lines.filter { $0 != "granted true" && !$0.hasPrefix("token") } == [
                "DF []", "SC -", "sceneWEF", "sceneDBA",
            ])
        #expect(self.notebook.lines.contains("granted true"))
        #expect(self.notebook.lines.contains("token of 32 bytes"))
        #expect(phone.state() == .foregroundActive)
        #expect(phone.faults == [])
    }

    @Test(.requirement("S1.14", "S2.9"))
    func `decides in the foreground how a push is presented`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        self.notebook.clear()
        await phone.deliver(alert("hi"))
        #expect(self.notebook.lines == ["WP hi"])
        #expect(phone.presentations.map(\.isRing) == [true])
        #expect(phone.screen.banners.map(\.notification.request.content.body) == ["hi"])
    }

    @Test(.requirement("S0.20", "S0.21"))
    func `is told of a tap once it comes back, and by its scene if it was gone`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.home()
        await phone.advance(by: .seconds(40))
        #expect(phone.state() == .suspended)
        self.notebook.clear()
        await phone.deliver(alert("while away"))
        await phone.tap()
        #expect(self.notebook.lines == ["sceneWEF", "DR tap while away remote", "sceneDBA"])

        await phone.home()
        await phone.terminate()
        self.notebook.clear()
        await phone.deliver(alert("while gone"))
        await phone.tap()
        #expect(
            self.notebook.lines.filter { $0 != "granted true" && !$0.hasPrefix("token") } == [
                "DF []", "SC while gone", "sceneWEF", "DR tap while gone remote", "sceneDBA",
            ])
        #expect(phone.faults == [])
    }

    @Test(.requirement("S4.9"))
    func `is woken by a silent push and answers it`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.home()
        await phone.advance(by: .seconds(40))
        self.notebook.clear()
        await phone.deliver(["aps": ["content-available": 1], "k": "v"], pushType: "background")
        #expect(self.notebook.lines == ["RF background v"])
        #expect(phone.presentations == [])
    }

    @Test(.requirement("S2.19"))
    func `shows what its extension made of a push, with the extension's badge`() async {
        let phone = await phoneInForeground(notebook: self.notebook, withExtension: true)
        await phone.home()
        await phone.deliver(alert("raw", mutable: true))
        #expect(phone.screen.list.map(\.notification.request.content.body) == ["[raw]"])
        #expect(phone.screen.badge(of: chat) == 3)
    }

    @Test(.requirement("S3.9"))
    func `posts, lists and removes local notifications and sets its badge`() async throws {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.home()
        try await phone.inApp {
            let content = UNMutableNotificationContent()
            content.title = "Alice"
            content.body = "local"
            content.userInfo = ["rc": ["cType": "PR", "n": 2, "b": true]]
            try await UNUserNotificationCenter.current().add(
                UNNotificationRequest(identifier: "m1", content: content, trigger: nil))
            try await UNUserNotificationCenter.current().setBadgeCount(4)
        }
        #expect(phone.screen.list.map(\.key.identifier) == ["m1"])
        #expect(phone.screen.badge(of: chat) == 4)
        let rc = await phone.inApp {
            await UNUserNotificationCenter.current().deliveredNotifications().first.flatMap {
                $0.request.content.userInfo["rc"] as? [String: Any]
            }.map { "\($0["cType"] as? String ?? "?") \($0["n"] as? Int ?? 0) \($0["b"] as? Bool ?? false)" }
        }
        #expect(rc == "PR 2 true")
        await phone.inApp {
            #expect(iconBadgeNumber() == 4)
            UNUserNotificationCenter.current().removeDeliveredNotifications(withIdentifiers: ["m1"])
        }
        #expect(phone.screen.list == [])
    }

    @Test func `gets an error it can read when it adds what says nothing`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.inApp {
            await #expect(throws: UNError.self) {
                try await UNUserNotificationCenter.current().add(
                    UNNotificationRequest(identifier: "x", content: UNMutableNotificationContent(), trigger: nil))
            }
        }
    }

    @Test func `keeps running in the background as long as its task, and is told when the time is up`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.inApp {
            #expect(backgroundTimeLeft() == nil)
            beginTask(noting: self.notebook)
        }
        await phone.home()
        await phone.advance(by: .seconds(10))
        #expect(phone.state() == .backgroundRunning)
        let left = await phone.inApp { backgroundTimeLeft() }
        #expect(left == 20)
        #expect(!self.notebook.lines.contains("expired"))
        await phone.advance(by: .seconds(21))
        #expect(self.notebook.lines.contains("expired"))
        await phone.advance(by: .seconds(6))
        #expect(phone.state() == .suspended)
    }

    @Test func `hears of typed text and of actions from a dead start`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.inApp {
            UNUserNotificationCenter.current().setNotificationCategories([
                UNNotificationCategory(
                    identifier: "message",
                    actions: [
                        UNTextInputNotificationAction(
                            identifier: "reply", title: "Reply", textInputButtonTitle: "Send",
                            textInputPlaceholder: "Message")
                    ], intentIdentifiers: [])
            ])
        }
        await phone.forceQuit()
        self.notebook.clear()
        await phone.deliver([
            "aps": ["alert": "question", "category": "message"]
        ])
        await phone.perform(action: "reply", text: "answer")
        #expect(self.notebook.lines.filter { $0.hasPrefix("DR") } == ["DR reply question remote “answer”"])
        #expect(phone.state() != .foregroundActive)
    }

    @Test(.requirement("S2.1"))
    func `keeps its pushes while it is in airplane mode: the newest comes when it is back`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.home()
        await phone.setAirplaneMode(true)
        await phone.deliver(alert("one"))
        await phone.deliver(alert("two"))
        #expect(phone.screen.list == [])
        await phone.setAirplaneMode(false)
        #expect(phone.screen.list.map(\.notification.request.content.body) == ["two"])
    }

    @Test func `is connected anew by a tap after its scene was released`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        await phone.home()
        await phone.disconnectScene()
        self.notebook.clear()
        await phone.deliver(alert("while released"))
        await phone.tap()
        #expect(
            self.notebook.lines == [
                "SC while released", "sceneWEF", "DR tap while released remote", "sceneDBA",
            ])
        #expect(phone.faults == [])
    }

    @Test func `gets another token when it is installed again or restored on a new phone`() async {
        let phone = await phoneInForeground(notebook: self.notebook)
        func tokens() -> [String] {
            phone.callbacks.compactMap { record in
                if case .registeredForRemoteNotifications(let token) = record.callback { token.rawValue } else { nil }
            }
        }
        await phone.restoreFromBackup()
        await phone.unlock()
        await phone.launch()
        #expect(Set(tokens()).count == 2)
        await phone.reinstall(InstalledApp(bundleID: chat, hasServiceExtension: false))
        await phone.launch()
        #expect(Set(tokens()).count == 3)
    }
}
