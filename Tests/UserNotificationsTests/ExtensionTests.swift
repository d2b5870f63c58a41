import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsModel
import UserNotifications
import VirtualPhone

/// Never calls its handler until its time is up.
private final class SlowService: UNNotificationServiceExtension {
    private var finish: (() -> Void)?

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return }
        content.body = "best attempt"
        self.finish = { contentHandler(content) }
    }

    override func serviceExtensionTimeWillExpire() { self.finish?() }
}

/// Writes to the app group, as a ledger does.
private final class GroupService: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat")
        if let folder { try? Data("seen".utf8).write(to: folder.appendingPathComponent(request.identifier)) }
        contentHandler(request.content)
    }
}

@MainActor @Suite struct `A notification service extension` {
    /// An app that only registers: the facades of UIKit are not needed for it.
    private func phone(_ service: UNNotificationServiceExtension.Type, folder: String? = nil) async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: 17, folder: folder)
        phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [], appGroup: "group.chat"),
            code: ProcessCode { process in
                process.setHandler { callback, reply in
                    if case .didFinishLaunching = callback {
                        process.tell(.remoteRegistrationRequested)
                        Task {
                            _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [
                                .alert, .badge, .sound,
                            ])
                        }
                    }
                    reply()
                }
            }, serviceExtension: VirtualExtension.code(service))
        await phone.allowNotifications()
        await phone.launch()
        await phone.home()
        return phone
    }

    private let push: JSONValue = ["aps": ["alert": "raw", "mutable-content": 1]]

    @Test(.requirement("S2.21"))
    func `may deliver its best attempt when its time is up`() async {
        let phone = await self.phone(SlowService.self)
        phone.patienceMilliseconds = 30
        await phone.deliver(self.push)
        #expect(phone.screen.list == [])
        await phone.advance(by: .seconds(31))
        #expect(phone.screen.list.map(\.notification.request.content.body) == ["best attempt"])
    }

    @Test(.requirement("S2.16"))
    func `shares the folder of the app group`() async throws {
        let folder = NSTemporaryDirectory() + "/extension-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let phone = await self.phone(GroupService.self, folder: folder)
        await phone.deliver(self.push, collapseID: "m1")
        #expect(FileManager.default.contents(atPath: folder + "/groups/group.chat/m1") == Data("seen".utf8))
        let seen = await phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat").map {
                FileManager.default.fileExists(atPath: $0.appendingPathComponent("m1").path)
            }
        }
        #expect(seen == true)
        let stranger = await phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.other")
        }
        #expect(stranger == nil)
    }

    @Test(.requirement("S2.20")) func `cannot reach the app group before the first unlock`() async throws {
        let folder = NSTemporaryDirectory() + "/extension-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let phone = await self.phone(GroupService.self, folder: folder)
        await phone.restart()
        await phone.deliver(self.push, collapseID: "m2")
        #expect(FileManager.default.contents(atPath: folder + "/groups/group.chat/m2") == nil)
        #expect(phone.screen.list.map(\.key.identifier) == ["m2"])
        await phone.unlock()
        await phone.deliver(self.push, collapseID: "m3")
        #expect(FileManager.default.contents(atPath: folder + "/groups/group.chat/m3") == Data("seen".utf8))
    }
}
