import NIOCore
import PhoneCore
import TidingsModel

/// Content extensions as processes of their own: one for each notification that is shown large. The core knows nothing of them.
extension HostShell {
    /// A notification that is shown large by its category's content extension.
    struct Expanded {
        let key: NotificationKey
        let process: ProcessID
        /// What the extension was given of its thread.
        var shown: Set<NotificationKey>
        /// The action the extension is being asked about.
        var question: Question?
        /// What the extension says it shows.
        var screen = JSONValue.null

        /// An action on its way through the extension.
        struct Question {
            let number: UInt64
            let action: String
            let text: String?
            let timeout: Scheduled<Void>
        }
    }

    /// Expands a notification, as a long press or a pull does.
    ///
    /// - Returns: false if no content extension is for its category: the system shows the text by itself.
    func expand(_ identifier: String) throws(InvalidField) -> Bool {
        let key = try self.key(identifier)
        self.collapse()
        guard let entry = self.engine.phone.screen.list.first(where: { $0.key == key }),
            let app = self.configuration.apps.first(where: { $0.installed.bundleID == key.app }),
            let content = app.contentExtension,
            content.categories.contains(entry.notification.request.content.categoryIdentifier)
        else { return false }
        self.expansions += 1
        let process = ProcessID(app: key.app, role: .contentExtension, number: self.expansions)
        self.expanded = Expanded(key: key, process: process, shown: [key])
        self.noteExpanded(key, "expanded")
        self.spawn(process, of: app, executable: content.executable, role: .notificationContent)
        self.send(.show(entry.notification), to: process)
        return true
    }

    /// Closes an expanded notification: its extension's process stops at once and ends a moment later.
    func collapse() {
        guard let expanded = self.expanded else { return }
        self.expanded = nil
        expanded.question?.timeout.cancel()
        self.noteExpanded(expanded.key, "collapsed")
        self.suspendProcess(expanded.process)
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.scheduleTask(in: .milliseconds(self.configuration.settings.extensionLinger)) {
            bound.value.killProcess(expanded.process)
        }
    }

    /// Asks the content extension about an action on the expanded notification.
    ///
    /// - Returns: whether it is asked; otherwise the action goes to the app at once.
    func asksContentExtension(_ key: NotificationKey, action: String, text: String?) -> Bool {
        guard let expanded = self.expanded, expanded.key == key, expanded.question == nil,
            let entry = self.engine.phone.screen.list.first(where: { $0.key == key })
        else { return false }
        self.questions += 1
        let number = self.questions
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let limit = self.configuration.settings.responseLimit
        let timeout = self.loop.scheduleTask(in: .milliseconds(limit)) { bound.value.contentExtensionIsLate(number) }
        self.expanded?.question = Expanded.Question(number: number, action: action, text: text, timeout: timeout)
        self.send(
            .respond(
                number,
                UserResponse(notification: entry.notification, actionIdentifier: action, userText: text)),
            to: expanded.process)
        return true
    }

    private func contentExtensionIsLate(_ number: UInt64) {
        guard let expanded = self.expanded, expanded.question?.number == number else { return }
        self.note("fault", expanded.key.app, [("text", "the content extension did not answer an action in time")])
        self.finish(expanded, .dismissAndForwardAction)
    }

    /// What follows from the extension's answer.
    private func finish(_ expanded: Expanded, _ answer: ContentExtensionAnswer) {
        guard let question = expanded.question else { return }
        question.timeout.cancel()
        self.expanded?.question = nil
        self.noteExpanded(expanded.key, "\(answer)")
        switch answer {
        case .doNotDismiss: break
        case .dismiss: self.collapse()
        case .dismissAndForwardAction:
            self.collapse()
            self.engine.post(
                .person(.actionPerformed(expanded.key, action: question.action, text: question.text)))
        }
    }

    /// Hands newcomers of the same thread to the extension; closes it when its notification is gone.
    func updateExpanded() {
        guard let expanded = self.expanded else { return }
        guard let newcomers = self.engine.phone.newcomers(to: expanded.key, but: expanded.shown) else {
            return self.collapse()
        }
        for newcomer in newcomers {
            self.expanded?.shown.insert(newcomer.key)
            self.send(.show(newcomer.notification), to: expanded.process)
        }
    }

    /// Takes what a content extension's process says.
    func take(_ message: ProcessMessage, ofContentExtension process: ProcessID) {
        switch message {
        case .event(.query(let number, let query)):
            let answer = self.engine.phone.answer(query, toContentExtensionOf: process.app)
            if answer == nil { self.noteUnheard("\(query)", of: process.app) }
            self.send(.answer(number, answer ?? .refused(.notificationsNotAllowed)), to: process)
        case .event(let event): self.noteUnheard("\(event)", of: process.app)
        case .responded(let number, let answer):
            guard let expanded = self.expanded, expanded.process == process, expanded.question?.number == number
            else { return }
            self.finish(expanded, answer)
        case .screen(let value):
            guard self.expanded?.process == process else { return }
            self.expanded?.screen = value
            self.note("screen", process.app, [("screen", value), ("role", .string(process.role.rawValue))])
        case .log(let level, let text):
            self.note("log", process.app, [("level", .string(level)), ("text", .string(text))])
        case .fault(let text): self.note("fault", process.app, [("text", .string(text))])
        case .hello: break
        }
    }

    /// Its process is gone: the system shows the text by itself, and the app hears of an action that was not answered.
    func contentExtensionEnded(_ process: ProcessID) {
        guard let expanded = self.expanded, expanded.process == process else { return }
        self.note("fault", process.app, [("text", "the content extension ended while it was shown")])
        self.finish(expanded, .dismissAndForwardAction)
        guard self.expanded?.process == process else { return }
        self.expanded = nil
        self.noteExpanded(expanded.key, "collapsed")
    }

    private func noteUnheard(_ call: String, of app: BundleID) {
        self.note("fault", app, [("text", .string(ContentExtensionRules.unheard(call)))])
    }

    private func noteExpanded(_ key: NotificationKey, _ state: String) {
        self.note(
            "content_extension", key.app, [("notification", .string(key.identifier)), ("state", .string(state))])
    }
}
