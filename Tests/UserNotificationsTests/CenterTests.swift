import Foundation
import PhoneCore
import Requirements
import Synchronization
import Testing
import TidingsModel
import UserNotifications

@testable import VirtualPhone

private final class Notes: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { self.lines.withLock { $0.append(line) } }
    var all: [String] { self.lines.withLock { $0 } }
}

private func hello(_ identifier: String) -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.body = "hello"
    return UNNotificationRequest(
        identifier: identifier, content: content,
        trigger: UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: false))
}

/// Synchronous, as most of an app's code: nothing here waits.
private func addAndRemove() {
    let center = UNUserNotificationCenter.current()
    center.add(hello("earlier"))
    center.removeAllPendingNotificationRequests()
    center.add(hello("later"), withCompletionHandler: nil)
    center.setBadgeCount(5)
    center.setBadgeCount(2)
}

private final class Recorder: PhoneLink {
    private let lines = Mutex<[ProcessMessage]>([])
    var sent: [ProcessMessage] { self.lines.withLock { $0 } }
    func send(_ message: ProcessMessage) { self.lines.withLock { $0.append(message) } }
    func answer(to query: Query, number: QueryNumber) -> QueryAnswer? { nil }
}

private final class CuriousService: UNNotificationServiceExtension {
    final class Delegate: UNUserNotificationCenterDelegate {}
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        UNUserNotificationCenter.current().delegate = Delegate()
        contentHandler(request.content)
    }
}

@MainActor @Suite struct `The notification centre of an app` {
    private func phone(
        _ version: OSVersion = 17, entitlements: Entitlements = [], options: UNAuthorizationOptions? = nil
    ) async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: version)
        phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [], hasServiceExtension: true,
                entitlements: entitlements),
            code: ProcessCode { process in
                process.setHandler { callback, reply in
                    if case .didFinishLaunching = callback { process.report(.remoteRegistrationRequested) }
                    reply()
                }
            }, serviceExtension: VirtualExtension.code { CuriousService() })
        await phone.launch()
        if let options {
            await phone.allowNotifications()
            _ = try? await phone.inApp {
                try await UNUserNotificationCenter.current().requestAuthorization(options: options)
            }
        }
        return phone
    }

    @Test(.requirement("S2.6")) func `tells the answer to the prompt, and asks only once`() async throws {
        let phone = await self.phone()
        let before = await phone.inApp { await UNUserNotificationCenter.current().notificationSettings() }
        #expect(before.authorizationStatus == .notDetermined)
        #expect(before.alertSetting == .notSupported)
        await phone.denyNotifications()
        let isGranted = try await phone.inApp {
            try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound])
        }
        #expect(!isGranted)
        await phone.allowNotifications()
        let again = try await phone.inApp {
            try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound])
        }
        #expect(!again)
        let after = await phone.inApp { await UNUserNotificationCenter.current().notificationSettings() }
        #expect(after.authorizationStatus == .denied)
    }

    @Test func `tells every switch of Settings as the person turns it`() async {
        let phone = await self.phone(
            entitlements: .timeSensitive, options: [.alert, .badge, .sound, .providesAppNotificationSettings])
        await phone.set(.sound, to: false)
        await phone.set(.lockScreen, to: false)
        await phone.setAlertStyle(.alert)
        await phone.setPreviews(.whenAuthenticated)
        let settings = await phone.inApp { await UNUserNotificationCenter.current().notificationSettings() }
        #expect(settings.authorizationStatus == .authorized)
        #expect(settings.alertSetting == .enabled)
        #expect(settings.soundSetting == .disabled)
        #expect(settings.lockScreenSetting == .disabled)
        #expect(settings.alertStyle == .alert)
        #expect(settings.showPreviewsSetting == .whenAuthenticated)
        #expect(settings.providesAppNotificationSettings)
        #expect(settings.timeSensitiveSetting == .enabled)
        #expect(settings.criticalAlertSetting == .notSupported)
        #expect(settings.directMessagesSetting == .notSupported)
    }

    @Test func `keeps categories over the process's end, with all their parts`() async {
        let phone = await self.phone()
        let category = UNNotificationCategory(
            identifier: "message",
            actions: [
                UNTextInputNotificationAction(
                    identifier: "reply", title: "Reply", options: .authenticationRequired,
                    textInputButtonTitle: "Send", textInputPlaceholder: "Message")
            ], intentIdentifiers: ["INSendMessageIntent"], hiddenPreviewsBodyPlaceholder: "%u messages",
            categorySummaryFormat: "%u more", options: [.customDismissAction, .hiddenPreviewsShowTitle])
        await phone.inApp { UNUserNotificationCenter.current().setNotificationCategories([category]) }
        await phone.terminate()
        await phone.launch()
        let kept = await phone.inApp { await UNUserNotificationCenter.current().notificationCategories() }
        #expect(kept == [category])
        #expect((kept.first?.actions.first as? UNTextInputNotificationAction)?.textInputPlaceholder == "Message")
        #expect(kept.first?.hiddenPreviewsBodyPlaceholder == "%u messages")
    }

    @Test func `fires calendar and location triggers by the phone's clock and place`() async throws {
        let phone = await self.phone(options: [.alert])
        await phone.home()
        try await phone.inApp {
            let content = UNMutableNotificationContent()
            content.body = "good morning"
            var morning = DateComponents()
            morning.hour = 8
            let center = UNUserNotificationCenter.current()
            try await center.add(
                UNNotificationRequest(
                    identifier: "calendar", content: content,
                    trigger: UNCalendarNotificationTrigger(dateMatching: morning, repeats: true)))
            content.body = "welcome"
            let home = CLCircularRegion(
                center: CLLocationCoordinate2D(latitude: 48.2, longitude: 16.4), radius: 100, identifier: "home")
            home.notifyOnExit = false
            try await center.add(
                UNNotificationRequest(
                    identifier: "location", content: content,
                    trigger: UNLocationNotificationTrigger(region: home, repeats: false)))
            let pending = await center.pendingNotificationRequests()
            #expect(Set(pending.map(\.identifier)) == ["calendar", "location"])
            let trigger = pending.first { $0.identifier == "calendar" }?.trigger as? UNCalendarNotificationTrigger
            #expect(trigger?.dateComponents.hour == 8)
        }
        await phone.cross(region: "home", entering: false)
        #expect(phone.screen.list == [])
        await phone.cross(region: "home", entering: true)
        await phone.advance(by: .seconds(9 * 3_600))
        #expect(phone.screen.list.map(\.key.identifier) == ["calendar", "location"])
        let left = await phone.inApp { await UNUserNotificationCenter.current().pendingNotificationRequests() }
        #expect(left.map(\.identifier) == ["calendar"])
    }

    @Test func `replaces a pending request of the same identifier and forgets removed ones`() async throws {
        let phone = await self.phone(options: [.alert])
        try await phone.inApp {
            let center = UNUserNotificationCenter.current()
            let content = UNMutableNotificationContent()
            for (body, delay) in [("first", 60.0), ("second", 120.0)] {
                content.body = body
                try await center.add(
                    UNNotificationRequest(
                        identifier: "m1", content: content,
                        trigger: UNTimeIntervalNotificationTrigger(timeInterval: delay, repeats: false)))
            }
            #expect(await center.pendingNotificationRequests().map(\.content.body) == ["second"])
            center.removePendingNotificationRequests(withIdentifiers: ["m1"])
            #expect(await center.pendingNotificationRequests().isEmpty)
        }
    }

    @Test func `takes calls in the order they were made, whichever form they have`() async {
        let phone = await self.phone(options: [.alert, .badge])
        let left = await phone.inApp { () -> [String] in
            addAndRemove()
            return await UNUserNotificationCenter.current().pendingNotificationRequests().map(\.identifier)
        }
        #expect(left == ["later"])
        #expect(phone.screen.badge(of: "com.example.chat") == 2)
    }

    @Test func `sends calls before they return`() {
        let link = Recorder()
        let process = PhoneProcess(
            facts: PhoneProcessFacts(
                role: .app, bundleID: "com.example.chat", osVersion: "17", phoneID: "phone", home: "/", groups: [:]),
            link: link)
        withPhoneProcess(process) { addAndRemove() }
        #expect(
            link.sent == [
                .event(.query(1, .add(hello("earlier").value))), .event(.pendingRemoved(identifiers: nil)),
                .event(.query(2, .add(hello("later").value))), .event(.query(3, .setBadgeCount(5))),
                .event(.query(4, .setBadgeCount(2))),
            ])
    }

    @Test func `has taken what an app added before the app answers that it is done`() async {
        let phone = await self.phone(options: [.alert])
        await phone.inApp {
            addAndRemove()
            // As in the last call of a process: what is in its way when it ends is lost.
            phone.process()?.kill()
        }
        await phone.terminate()
        await phone.launch()
        let left = await phone.inApp { await UNUserNotificationCenter.current().pendingNotificationRequests() }
        #expect(left.map(\.identifier) == ["later"])
    }

    @Test func `calls completion handlers with Apple's answers, in the app's own context`() async {
        let phone = await self.phone()
        let notes = Notes()
        await phone.inApp {
            let center = UNUserNotificationCenter.current()
            center.add(hello("refused")) { error in
                let isRefused = (error as? UNError)?.code == .notificationsNotAllowed
                notes.add("\(isRefused) \(PhoneProcess.current.facts.bundleID)")
            }
            center.getNotificationSettings { notes.add("status \($0.authorizationStatus.rawValue)") }
        }
        #expect(Set(notes.all) == ["true com.example.chat", "status 0"])
    }

    @Test func `tells on any thread whether Low Power Mode is on`() async {
        let phone = await self.phone()
        await phone.setLowPowerMode(true)
        let isOn = await phone.inApp {
            let process = PhoneProcess.current
            return await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    withPhoneProcess(process) {
                        continuation.resume(returning: ProcessInfo.processInfo.isLowPowerModeEnabled)
                    }
                }
            }
        }
        #expect(isOn)
    }

    @Test func `delivers quietly to an app that asked for provisional authorization`() async {
        let phone = await self.phone(options: [.alert, .provisional])
        await phone.home()
        await phone.deliver(["aps": ["alert": "hi", "sound": "default"]])
        #expect(phone.presentations.map(\.isRing) == [false])
        let status = await phone.inApp { await UNUserNotificationCenter.current().notificationSettings() }
        #expect(status.authorizationStatus == .provisional)
    }

    @Test func `refuses what is not allowed with Apple's error`() async {
        let phone = await self.phone()
        await phone.inApp {
            let content = UNMutableNotificationContent()
            content.body = "hi"
            do {
                try await UNUserNotificationCenter.current().add(
                    UNNotificationRequest(identifier: "m1", content: content, trigger: nil))
                Issue.record("it was taken")
            } catch UNError.notificationsNotAllowed {
                // As on an iPhone.
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test func `has no delegate in an extension`() async {
        let phone = await self.phone(options: [.alert])
        await phone.home()
        await phone.deliver(["aps": ["alert": "hi", "mutable-content": 1]])
        #expect(phone.faults == ["an extension must not set the delegate of UNUserNotificationCenter"])
    }
}

@MainActor @Suite struct `An expiring activity` {
    private final class Notes: Sendable {
        private let lines = Mutex<[Bool]>([])
        func add(_ line: Bool) { self.lines.withLock { $0.append(line) } }
        var all: [Bool] { self.lines.withLock { $0 } }
    }

    @Test func `keeps an app running until its block returns`() async {
        let phone = VirtualPhone(osVersion: 17)
        phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [], hasServiceExtension: false),
            code: ProcessCode { process in process.setHandler { _, reply in reply() } })
        await phone.launch()
        let notes = Notes()
        let mayReturn = DispatchSemaphore(value: 0)
        await phone.inApp {
            ProcessInfo.processInfo.performExpiringActivity(withReason: "upload") { isExpired in
                notes.add(isExpired)
                if isExpired { mayReturn.signal() } else { mayReturn.wait() }
            }
        }
        await phone.home()
        await phone.advance(by: .seconds(10))
        #expect(phone.state() == .backgroundRunning)
        #expect(notes.all == [false])
        await phone.advance(by: .seconds(60))
        #expect(notes.all == [false, true])
        #expect(phone.state() == .suspended)
    }
}

@Suite struct `A notification's attachment` {
    private func file(_ name: String, bytes: Int = 1) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("attachment-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent(name)
        try Data(count: bytes).write(to: url)
        return url
    }

    private func code(_ url: URL, options: [AnyHashable: Any]? = nil) -> UNError.Code? {
        do {
            _ = try UNNotificationAttachment(identifier: "a", url: url, options: options)
            return nil
        } catch {
            return (error as? UNError)?.code
        }
    }

    @Test func `travels with the content by its name`() throws {
        let url = try self.file("image.JPG")
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let content = UNMutableNotificationContent()
        content.body = "look"
        content.attachments = [try UNNotificationAttachment(identifier: "", url: url)]
        let copy = UNNotificationContent(parts: content.parts)
        #expect(copy.attachments.map(\.url) == [url])
        #expect(copy.attachments.first?.type == "public.jpeg")
        #expect(copy.attachments.first?.identifier.isEmpty == false)
    }

    @Test func `is refused with Apple's number if it is missing, unknown or too large`() throws {
        let text = try self.file("notes.txt")
        let large = try self.file("large.m4a", bytes: 5_000_001)
        defer {
            for url in [text, large] { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        }
        #expect(self.code(URL(fileURLWithPath: "/nonexistent.png")) == .attachmentInvalidURL)
        #expect(self.code(text) == .attachmentUnrecognizedType)
        #expect(self.code(text, options: [UNNotificationAttachmentOptionsTypeHintKey: "public.png"]) == nil)
        #expect(self.code(large) == .attachmentInvalidFileSize)
    }
}
