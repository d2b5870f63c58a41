package import PhoneCore

/// iOS looks for the method before it decides what to call.
package struct DelegateMethod: Sendable {
    package let bit: DelegateMethods
    package let name: String
    /// The forms that the demangler writes, from the method's name to the part that distinguishes it from the others.
    let forms: [String]
}

extension DelegateMethod {
    private static let application = "application(_: UIKit.UIApplication, "
    private static let dictionary = "Swift.Dictionary<Swift.AnyHashable, Any>"
    private static let center = "userNotificationCenter(_: UserNotifications.UNUserNotificationCenter, "

    private static func action(
        _ bit: DelegateMethods, _ label: String, of type: String, withText: Bool
    ) -> DelegateMethod {
        let info = withText ? "withResponseInfo:" : ""
        let start =
            "\(self.application)handleActionWithIdentifier: Swift.Optional<Swift.String>, \(label): \(type)"
            + (withText ? ", withResponseInfo: \(self.dictionary)" : "")
        return DelegateMethod(
            bit: bit, name: "application(_:handleActionWithIdentifier:\(label):\(info)completionHandler:)",
            forms: ["\(start), completionHandler: ", "\(start)) async"])
    }

    package static let ofApplication: [DelegateMethod] = [
        DelegateMethod(
            bit: .receiveRemote, name: "application(_:didReceiveRemoteNotification:)",
            forms: ["\(application)didReceiveRemoteNotification: \(dictionary)) -> ()"]),
        DelegateMethod(
            bit: .receiveRemoteFetch, name: "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)",
            forms: [
                "\(application)didReceiveRemoteNotification: \(dictionary), fetchCompletionHandler: ",
                "\(application)didReceiveRemoteNotification: \(dictionary)) async",
            ]),
        DelegateMethod(
            bit: .receiveLocal, name: "application(_:didReceive:)",
            forms: ["\(application)didReceive: UIKit.UILocalNotification)"]),
        DelegateMethod(
            bit: .performFetch, name: "application(_:performFetchWithCompletionHandler:)",
            forms: [
                "\(application)performFetchWithCompletionHandler: ",
                "applicationPerformFetch(UIKit.UIApplication) async",
            ]), action(.actionRemote, "forRemoteNotification", of: dictionary, withText: false),
        action(.actionRemoteText, "forRemoteNotification", of: dictionary, withText: true),
        action(.actionLocal, "for", of: "UIKit.UILocalNotification", withText: false),
        action(.actionLocalText, "for", of: "UIKit.UILocalNotification", withText: true),
    ]

    package static let ofNotificationCenter: [DelegateMethod] = [
        DelegateMethod(
            bit: .willPresent, name: "userNotificationCenter(_:willPresent:withCompletionHandler:)",
            forms: ["\(center)willPresent: "]),
        DelegateMethod(
            bit: .receiveResponse, name: "userNotificationCenter(_:didReceive:withCompletionHandler:)",
            forms: ["\(center)didReceive: "]),
        DelegateMethod(
            bit: .openSettings, name: "userNotificationCenter(_:openSettingsFor:)",
            forms: ["\(center)openSettingsFor: "]),
    ]

    package static func names(_ methods: DelegateMethods) -> [String] {
        (self.ofApplication + self.ofNotificationCenter).filter { methods.contains($0.bit) }.map(\.name)
    }
}

extension PhoneProcess {
    /// Reports methods that a delegate has and the app does not declare: iOS would call them, this phone does not.
    package func check(_ delegate: AnyObject, has methods: [DelegateMethod]) {
        guard let declared = self.declaredMethods else { return }
        let functions = ExecutableSymbols.functions(of: delegate)
        for method in methods where !declared.contains(method.bit) {
            guard functions.contains(where: { text in method.forms.contains { text.contains($0) } }) else { continue }
            self.send(
                .fault(
                    "\(method.name) is implemented by \(type(of: delegate)) and not declared in VirtualApp(delegates:)")
            )
        }
    }

    /// The default of a declared method ran, so the declaration is wrong.
    package static func reportMissing(_ name: String) {
        self.currentIfAny?.send(.fault("\(name) is declared in VirtualApp(delegates:) and not implemented"))
    }
}

extension ProcessHello {
    package func mismatch(with app: InstalledApp) -> String? {
        let methods = self.methods ?? []
        var differences: [String] = []
        let missing = DelegateMethod.names(app.methods.subtracting(methods))
        if !missing.isEmpty { differences.append("\(missing.joined(separator: ", ")) is installed and not declared") }
        let surplus = DelegateMethod.names(methods.subtracting(app.methods))
        if !surplus.isEmpty { differences.append("\(surplus.joined(separator: ", ")) is declared and not installed") }
        if let lifecycle = self.lifecycle, lifecycle != app.lifecycle {
            differences.append("the life-cycle is declared as \(lifecycle.rawValue)")
        }
        guard !differences.isEmpty else { return nil }
        return "VirtualApp(delegates:lifecycle:) must declare what the phone has installed: "
            + differences.joined(separator: "; ")
    }
}
