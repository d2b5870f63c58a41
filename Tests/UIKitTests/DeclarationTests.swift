import Foundation
import PhoneCore
import Testing
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

private final class BareDelegate: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        application.registerForRemoteNotifications()
        return true
    }
}

private class Base: UIResponder, UIApplicationDelegate {
    var center: CenterDelegate?
    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {}
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        self.center = CenterDelegate()
        UNUserNotificationCenter.current().delegate = self.center
        return true
    }
}
private final class Derived: Base {}

/// A plain object that takes taps in the async form, as in Apple's documentation.
private class CenterDelegate: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
    }
}

@MainActor @Suite struct `A declaration that is not what the app has` {
    private func phone(
        _ version: OSVersion = 17, installed: DelegateMethods, declared: DelegateMethods,
        lifecycle: LifecycleStyle = .application,
        delegate: @escaping @MainActor @Sendable () -> any UIApplicationDelegate
    ) async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: version)
        phone.install(
            InstalledApp(bundleID: chat, lifecycle: .application, methods: installed, hasServiceExtension: false),
            code: VirtualApp(delegates: declared, lifecycle: lifecycle).code(delegate: delegate))
        await phone.launch()
        return phone
    }

    @Test func `is a fault when a declared method is called and not there`() async {
        let phone = await self.phone(installed: .receiveRemoteFetch, declared: .receiveRemoteFetch) { BareDelegate() }
        #expect(phone.faults == [])
        await phone.deliver(["aps": ["content-available": 1]])
        #expect(
            phone.faults == [
                "application(_:didReceiveRemoteNotification:fetchCompletionHandler:) is declared in"
                    + " VirtualApp(delegates:) and not implemented"
            ])
    }

    @Test func `is a fault at the launch when a method is there and not declared, also an inherited one`() async {
        let phone = await self.phone(installed: [], declared: []) { Derived() }
        #expect(
            phone.faults == [
                "application(_:didReceiveRemoteNotification:) is implemented by Derived and not declared in"
                    + " VirtualApp(delegates:)",
                "userNotificationCenter(_:didReceive:withCompletionHandler:) is implemented by CenterDelegate and not"
                    + " declared in VirtualApp(delegates:)",
            ])
    }

    @Test func `is none for a method that is there and withheld`() async {
        let phone = VirtualPhone(osVersion: 17)
        var app = VirtualApp(delegates: [], lifecycle: .application)
        app.withheld = [.receiveRemote, .receiveResponse]
        phone.install(
            InstalledApp(bundleID: chat, lifecycle: .application, methods: [], hasServiceExtension: false),
            code: app.code { Derived() })
        await phone.launch()
        #expect(phone.faults == [])
    }

    @Test func `names every undeclared method of an old app, in either form`() async {
        let notebook = Notebook()
        let phone = await self.phone(9, installed: [], declared: []) { NineDelegate(notebook) }
        #expect(
            phone.faults.map { $0.prefix { $0 != " " } } == [
                "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)",
                "application(_:performFetchWithCompletionHandler:)",
                "application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)",
                "application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)",
                "application(_:handleActionWithIdentifier:for:completionHandler:)",
            ])
    }

    @Test func `is a fault when it differs from what the phone has installed`() async {
        let phone = await self.phone(
            installed: .receiveRemoteFetch, declared: .performFetch, lifecycle: .scenes
        ) { BareDelegate() }
        #expect(
            phone.faults == [
                "VirtualApp(delegates:lifecycle:) must declare what the phone has installed:"
                    + " application(_:didReceiveRemoteNotification:fetchCompletionHandler:) is installed and not declared;"
                    + " application(_:performFetchWithCompletionHandler:) is declared and not installed;"
                    + " the life-cycle is declared as scenes"
            ])
    }

    @Test func `is a fault when scenes are declared and nobody is told about them`() async {
        let phone = VirtualPhone(osVersion: 17)
        phone.install(
            InstalledApp(bundleID: chat, methods: [], hasServiceExtension: false),
            code: VirtualApp(delegates: []).code { BareDelegate() })
        await phone.launch()
        #expect(
            phone.faults == [
                "VirtualApp declares the life-cycle scenes, and no sceneDelegate was given with its delegate"
            ])
    }

    @Test func `is none when both agree`() async {
        let phone = await self.phone(
            installed: [.receiveRemote, .receiveResponse], declared: [.receiveRemote, .receiveResponse]
        ) { Derived() }
        #expect(phone.faults == [])
    }
}

@Suite struct `A call that belongs to no phone` {
    @Test func `traps and says why`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = UNUserNotificationCenter.current()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("this call belongs to no virtual phone"))
    }

    @Test func `traps in a detached task of an app too, which has lost its phone`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let phone = await VirtualPhone(osVersion: 17)
            await phone.install(
                InstalledApp(bundleID: "com.example.lost", lifecycle: .application, methods: []),
                code: VirtualApp(lifecycle: .application, delegates: []).code { BareDelegate() })
            await phone.launch()
            await phone.inApp { await Task.detached { _ = UNUserNotificationCenter.current() }.value }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("this call belongs to no virtual phone"))
    }
}
