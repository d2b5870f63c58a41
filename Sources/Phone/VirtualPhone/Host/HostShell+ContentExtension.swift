import NIOCore
import PhoneCore
import TidingsModel

/// Content extensions: one process for each notification that is shown large. The core knows nothing of them.
extension HostShell {
    struct Expanded {
        let key: NotificationKey
        let process: ProcessID
        var shown: Set<NotificationKey>
        var question: Question?
        var screen = JSONValue.null

        struct Question {
            let number: UInt64
            let action: String
            let text: String?
            let timeout: Scheduled<Void>
        }
    }

    /// Returns false if no content extension handles the category: then the system shows the text itself.
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
        self.traceExpansion(key, "expanded")
        self.spawn(process, of: app, executable: content.executable, role: .notificationContent)
        self.send(.show(entry.notification), to: process)
        return true
    }

    /// The process stops at once and ends a moment later.
    func collapse() {
        guard let expanded = self.expanded else { return }
        self.expanded = nil
        expanded.question?.timeout.cancel()
        self.traceExpansion(expanded.key, "collapsed")
        self.suspendProcess(expanded.process)
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.scheduleTask(in: .milliseconds(self.configuration.settings.extensionLinger)) {
            bound.value.killProcess(expanded.process)
        }
    }

    /// Returns whether the extension is asked; otherwise the action goes to the app at once.
    func queryContentExtension(_ key: NotificationKey, action: String, text: String?) -> Bool {
        guard let expanded = self.expanded, expanded.key == key, expanded.question == nil,
            let entry = self.engine.phone.screen.list.first(where: { $0.key == key })
        else { return false }
        self.questions += 1
        let number = self.questions
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let limit = self.configuration.settings.responseLimit
        let timeout = self.loop.scheduleTask(in: .milliseconds(limit)) {
            bound.value.handleLateContentExtension(number)
        }
        self.expanded?.question = Expanded.Question(number: number, action: action, text: text, timeout: timeout)
        self.send(
            .respond(
                number,
                UserResponse(notification: entry.notification, actionIdentifier: action, userText: text)),
            to: expanded.process)
        return true
    }

    private func handleLateContentExtension(_ number: UInt64) {
        guard let expanded = self.expanded, expanded.question?.number == number else { return }
        self.traceFault(expanded.key.app, "the content extension did not answer an action in time")
        self.applyAnswer(expanded, .dismissAndForwardAction)
    }

    private func applyAnswer(_ expanded: Expanded, _ answer: ContentExtensionAnswer) {
        guard let question = expanded.question else { return }
        question.timeout.cancel()
        self.expanded?.question = nil
        self.traceExpansion(expanded.key, "\(answer)")
        switch answer {
        case .doNotDismiss: break
        case .dismiss: self.collapse()
        case .dismissAndForwardAction:
            self.collapse()
            self.engine.post(.person(.actionPerformed(expanded.key, action: question.action, text: question.text)))
        }
    }

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

    func handleContentExtension(_ message: ProcessMessage, of process: ProcessID) {
        switch message {
        case .event(.query(let number, let query)):
            let answer = self.engine.phone.answer(query, toContentExtensionOf: process.app)
            if answer == nil { self.traceUnhandled("\(query)", of: process.app) }
            self.send(.answer(number, answer ?? .refused(.notificationsNotAllowed)), to: process)
        case .event(let event): self.traceUnhandled("\(event)", of: process.app)
        case .responded(let number, let answer):
            guard let expanded = self.expanded, expanded.process == process, expanded.question?.number == number
            else { return }
            self.applyAnswer(expanded, answer)
        case .screen(let value):
            guard self.expanded?.process == process else { return }
            self.expanded?.screen = value
            self.appendTrace("screen", process.app, [("screen", value), ("role", .string(process.role.rawValue))])
        case .log, .fault, .hello, .views, .touched: break
        }
    }

    /// The system now shows the text itself, and the app gets an action that was not answered.
    func handleContentExtensionEnd(_ process: ProcessID) {
        guard let expanded = self.expanded, expanded.process == process else { return }
        self.traceFault(process.app, "the content extension ended while it was shown")
        self.applyAnswer(expanded, .dismissAndForwardAction)
        guard self.expanded?.process == process else { return }
        self.expanded = nil
        self.traceExpansion(expanded.key, "collapsed")
    }

    private func traceUnhandled(_ call: String, of app: BundleID) {
        self.traceFault(app, ContentExtensionRules.faultOfUnhandled(call))
    }

    private func traceExpansion(_ key: NotificationKey, _ state: String) {
        self.appendTrace(
            "content_extension", key.app, [("notification", .string(key.identifier)), ("state", .string(state))])
    }
}
