package import PhoneCore

/// The code of a notification content extension that a phone hosts in the phone's own process (UserNotificationsUI).
public struct ContentExtensionCode: Sendable {
    /// The categories it is for: `UNNotificationExtensionCategory` in its Info.plist.
    public var categories: [String]
    let start: @MainActor @Sendable (PhoneProcess) -> any ContentExtensionHosting

    /// Code that makes its screen in a process.
    package init(
        categories: [String], start: @escaping @MainActor @Sendable (PhoneProcess) -> any ContentExtensionHosting
    ) {
        self.categories = categories
        self.start = start
    }
}

/// A content extension's screen, as the phone calls it.
@MainActor package protocol ContentExtensionHosting: AnyObject, Sendable {
    /// A notification to show; again when another one of the thread arrives.
    func receive(_ notification: DeliveredNotification)
    /// What the person did with it: what happens next.
    func respond(_ response: UserResponse) async -> ContentExtensionAnswer
}

/// What happens to an expanded notification after an action. Raw values as Apple's.
package enum ContentExtensionAnswer: UInt, Sendable, Codable {
    /// It stays, and the app hears nothing.
    case doNotDismiss = 0
    /// It goes, and the app hears nothing.
    case dismiss = 1
    /// It goes, and the app hears of the action.
    case dismissAndForwardAction = 2
}

/// A notification that is shown large.
struct ExpandedNotification {
    var key: NotificationKey
    var process: ProcessID
    var screen: any ContentExtensionHosting
    var shown: Set<NotificationKey>
}

extension VirtualPhone {
    /// Expands a notification, as a long press or a pull does: its category's content extension shows it.
    ///
    /// - Parameter identifier: the request's identifier; nil is the newest.
    /// - Returns: false if no content extension is for its category: the system shows the text by itself.
    /// - Precondition: the list has it.
    @discardableResult
    public func expand(_ identifier: String? = nil) async -> Bool {
        let key = self.key(identifier)
        self.collapse()
        guard let entry = self.screen.list.first(where: { $0.key == key }), let code = self.contentExtensions[key.app],
            code.categories.contains(entry.notification.request.content.categoryIdentifier)
        else { return false }
        self.expansions += 1
        let process = ProcessID(app: key.app, role: .contentExtension, number: self.expansions)
        let facts = self.facts(of: key.app, role: .notificationContent)
        let hosted = PhoneProcess(facts: facts, link: DirectLink(process: process, inbox: self.inbox))
        self.processes[process] = hosted
        let screen = PhoneContext.$process.withValue(hosted) { code.start(hosted) }
        self.expanded = ExpandedNotification(key: key, process: process, screen: screen, shown: [key])
        screen.receive(entry.notification)
        await self.settle()
        return true
    }

    /// Closes an expanded notification; its extension's process ends.
    public func collapse() {
        guard let expanded = self.expanded else { return }
        self.expanded = nil
        self.processes.removeValue(forKey: expanded.process)?.kill()
    }

    /// Asks the content extension what an action does to the expanded notification.
    ///
    /// - Returns: whether the app hears of the action.
    func askContentExtension(_ key: NotificationKey, action: String, text: String?) async -> Bool {
        guard let expanded = self.expanded, expanded.key == key,
            let entry = self.screen.list.first(where: { $0.key == key })
        else { return true }
        let response = UserResponse(
            notification: entry.notification, actionIdentifier: action, userText: text)
        let answer = await expanded.screen.respond(response)
        await self.settle()
        switch answer {
        case .doNotDismiss: return false
        case .dismiss:
            self.collapse()
            return false
        case .dismissAndForwardAction:
            self.collapse()
            return true
        }
    }

    /// Hands newcomers of the same thread to the expanded notification's extension.
    func updateExpanded() {
        guard let expanded = self.expanded else { return }
        guard let newcomers = self.engine?.phone.newcomers(to: expanded.key, but: expanded.shown) else {
            return self.collapse()
        }
        for newcomer in newcomers {
            self.expanded?.shown.insert(newcomer.key)
            expanded.screen.receive(newcomer.notification)
        }
    }

    /// Answers the questions of a content extension's process, of which the core knows nothing.
    ///
    /// - Returns: false for what is no question.
    func answer(_ message: ProcessMessage, asExpanded process: ProcessID) -> Bool {
        guard case .event(let event) = message else { return false }
        guard case .query(let number, let query) = event, let hosted = self.processes[process] else {
            self.noteUnheard("\(event)", of: process.app)
            return true
        }
        let known = self.engine?.phone.answer(query, toContentExtensionOf: process.app)
        if known == nil { self.noteUnheard("\(query)", of: process.app) }
        let answer = known ?? .refused(.notificationsNotAllowed)
        if !self.inbox.answer(number, of: process, with: answer) { hosted.take(answer, for: number) }
        return true
    }
}

extension VirtualPhone {
    /// The core knows nothing of a content extension's process, so what it does beyond its screen is lost; not silently.
    private func noteUnheard(_ call: String, of app: BundleID) {
        self.note(fault: ContentExtensionRules.unheard(call), of: app)
    }
}

/// What holds for content extensions in one process and in processes of their own.
enum ContentExtensionRules {
    /// The fault of a call, as Swift describes it, that does nothing.
    static func unheard(_ call: String) -> String {
        "\(call.prefix { $0 != "(" }) of a content extension has no effect on a virtual phone"
    }
}

extension PhoneCore {
    /// The answer to a content extension's question; nil for one that a virtual phone has no answer to.
    func answer(_ query: Query, toContentExtensionOf app: BundleID) -> QueryAnswer? {
        switch query {
        case .deliveredNotifications: .delivered(self.screen.list.filter { $0.app == app }.map(\.notification))
        case .settings: .settings(self.notificationSettings(of: app) ?? NotificationSettings())
        default: nil
        }
    }

    /// What of an app's list came after an expanded notification of the same thread, oldest first; nil when that is gone.
    func newcomers(
        to key: NotificationKey, but shown: Set<NotificationKey>
    ) -> [(key: NotificationKey, notification: DeliveredNotification)]? {
        let list = self.screen.list
        guard let thread = list.first(where: { $0.key == key })?.thread else { return nil }
        guard !thread.isEmpty else { return [] }
        return list.reversed().filter { $0.app == key.app && $0.thread == thread && !shown.contains($0.key) }
            .map { ($0.key, $0.notification) }
    }
}

extension ListEntry {
    fileprivate var thread: String { self.notification.request.content.threadIdentifier }
}
