package import PhoneCore

/// The code of a notification content extension that a phone hosts in the phone's own process (UserNotificationsUI).
public struct ContentExtensionCode: Sendable {
    /// The categories it is for: `UNNotificationExtensionCategory` in its Info.plist.
    public var categories: [String]
    let start: @MainActor @Sendable (PhoneProcess) -> any ContentExtensionHosting

    package init(
        categories: [String], start: @escaping @MainActor @Sendable (PhoneProcess) -> any ContentExtensionHosting
    ) {
        self.categories = categories
        self.start = start
    }
}

@MainActor package protocol ContentExtensionHosting: AnyObject, Sendable {
    /// Called again when another notification of the thread arrives.
    func receive(_ notification: DeliveredNotification)
    func respond(_ response: UserResponse) async -> ContentExtensionAnswer
}

/// Raw values as Apple's.
package enum ContentExtensionAnswer: UInt, Sendable, Codable {
    case doNotDismiss = 0
    case dismiss = 1
    case dismissAndForwardAction = 2
}

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

    /// Returns whether the app gets the action.
    func queryContentExtension(_ key: NotificationKey, action: String, text: String?) async -> Bool {
        guard let expanded = self.expanded, expanded.key == key,
            let entry = self.screen.list.first(where: { $0.key == key })
        else { return true }
        let response = UserResponse(notification: entry.notification, actionIdentifier: action, userText: text)
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

    func updateExpanded() {
        guard let expanded = self.expanded else { return }
        guard let newcomers = self.engine.phone.newcomers(to: expanded.key, but: expanded.shown) else {
            return self.collapse()
        }
        for newcomer in newcomers {
            self.expanded?.shown.insert(newcomer.key)
            expanded.screen.receive(newcomer.notification)
        }
    }

    /// Returns false for a message that is no event.
    func answer(_ message: ProcessMessage, asExpanded process: ProcessID) -> Bool {
        guard case .event(let event) = message else { return false }
        guard case .query(let number, let query) = event, let hosted = self.processes[process] else {
            self.recordUnhandled("\(event)", of: process.app)
            return true
        }
        let known = self.engine.phone.answer(query, toContentExtensionOf: process.app)
        if known == nil { self.recordUnhandled("\(query)", of: process.app) }
        let answer = known ?? .refused(.notificationsNotAllowed)
        if !self.inbox.answer(number, of: process, with: answer) { hosted.resolve(answer, for: number) }
        return true
    }
}

extension VirtualPhone {
    /// The core does not know the process of a content extension, so an event of it is lost and reported.
    private func recordUnhandled(_ call: String, of app: BundleID) {
        self.recordFault(ContentExtensionRules.faultOfUnhandled(call), of: app)
    }
}

enum ContentExtensionRules {
    static func faultOfUnhandled(_ call: String) -> String {
        "\(call.prefix { $0 != "(" }) of a content extension has no effect on a virtual phone"
    }
}

extension PhoneCore {
    /// nil for a question that a virtual phone has no answer to.
    func answer(_ query: Query, toContentExtensionOf app: BundleID) -> QueryAnswer? {
        switch query {
        case .deliveredNotifications: .delivered(self.screen.list.filter { $0.app == app }.map(\.notification))
        case .settings: .settings(self.notificationSettings(of: app) ?? .notAsked)
        default: nil
        }
    }

    /// The entries of the same thread that arrived later, oldest first; nil when the notification is gone.
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
