import NIOCore
import PhoneCore
import TidingsModel

/// Shows the screen of the app in the foreground, and carries out a person's touches.
extension HostShell {
    struct Touch {
        let process: ProcessID
        let view: String?
        let action: ViewAction
        let promise: EventLoopPromise<JSONValue>
        let timeout: Scheduled<Void>
    }

    /// How long an app's main thread may be busy.
    static let touchSeconds: Int64 = 10

    var frontViews: [ViewNode] { self.engine.phone.screen.foregroundApp.map(self.views.views(of:)) ?? [] }

    /// Takes an app's views; those of an app that has left the foreground meanwhile are old and dropped.
    func show(_ views: [ViewNode], of process: ProcessID) {
        let phone = self.engine.phone
        guard phone.process(of: process.app) == process, phone.state(of: process.app)?.isInForeground == true else {
            return
        }
        self.views.change(process.app, to: views)
    }

    func forgetHiddenViews() {
        for app in self.apps where self.engine.phone.state(of: app)?.isInForeground != true {
            self.views.change(app, to: [])
        }
    }

    /// Done when the app has answered, and what it shows then is known.
    func touch(
        _ view: String?, _ action: ViewAction, in app: BundleID
    ) throws(InvalidField) -> EventLoopFuture<JSONValue> {
        let phone = self.engine.phone
        guard let process = phone.process(of: app), phone.state(of: app)?.isInForeground == true else {
            throw InvalidField(field: "app", rule: "must be in the foreground to be touched: \(app)")
        }
        guard phone.state(of: app) == .foregroundActive else {
            throw InvalidField(field: "app", rule: "must be active to be touched, something covers it: \(app)")
        }
        guard !self.views.views(of: app).isEmpty else {
            throw InvalidField(field: "app", rule: "shows no views that could be touched: \(app)")
        }
        self.lastTouch += 1
        let number = self.lastTouch
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let timeout = self.loop.scheduleTask(in: .seconds(Self.touchSeconds)) {
            bound.value.refuseTouch(number, "did not answer a touch within \(Self.touchSeconds) s, and may still do it")
        }
        let promise = self.loop.makePromise(of: JSONValue.self)
        self.touches[number] = Touch(
            process: process, view: view, action: action, promise: promise, timeout: timeout)
        self.send(.touch(number, view: view, action), to: process)
        return promise.futureResult
    }

    func handleTouched(_ number: UInt64, _ answer: TouchAnswer, by process: ProcessID) {
        guard let touch = self.touches[number], touch.process == process else { return }
        self.touches[number] = nil
        touch.timeout.cancel()
        let shown = self.views.views(of: process.app)
        switch (answer, touch.view) {
        case (.done, _): touch.promise.succeed(.members([]))
        case (.noSuchView, let view?):
            touch.promise.fail(
                InvalidField(
                    field: "view", rule: "is not on the screen: \(view); \(touch.action.takers(in: shown))"))
        case (.noSuchView, nil), (.notTaken, nil):
            touch.promise.fail(InvalidField(field: "action", rule: "is taken by no view: \(touch.action.words)"))
        case (.notTaken, let view?):
            touch.promise.fail(
                InvalidField(
                    field: "action",
                    rule: "is not taken by \(view): \(touch.action.words); \(touch.action.takers(in: shown))"))
        }
    }

    func refuseTouches(of process: ProcessID) {
        for (number, touch) in self.touches where touch.process == process {
            self.refuseTouch(number, "ended before it answered a touch, which may have been done")
        }
    }

    private func refuseTouch(_ number: UInt64, _ rule: String) {
        guard let touch = self.touches.removeValue(forKey: number) else { return }
        touch.timeout.cancel()
        touch.promise.fail(InvalidField(field: "app", rule: "\(rule): \(touch.process.app)"))
    }

    func picture(columns: Int, rows: Int) throws(InvalidField) -> JSONValue {
        guard let draw = self.configuration.picture else {
            throw InvalidField(field: "do", rule: "is drawn by `tidings phone` alone: picture")
        }
        let lines = draw(self.screen, self.frontViews, columns, rows)
        return .members([("lines", .array(lines.map { .string($0) }))])
    }
}

extension ViewAction {
    /// The word of the control channel.
    fileprivate var words: String { self.json["type"]?.stringValue ?? "\(self)" }

    /// Who takes it among what is shown, in words; so many at most.
    fileprivate func takers(in views: [ViewNode]) -> String {
        let word = self.words
        var names: [String] = []
        func look(_ node: ViewNode) {
            if node.actions.contains(where: { $0.words == word }),
                let name = node.text ?? node.label ?? node.texts.first ?? node.identifier, !names.contains(name)
            {
                names.append(name)
            }
            node.children.forEach(look)
        }
        views.forEach(look)
        guard !names.isEmpty else { return "nothing on the screen takes \(word)" }
        let more = names.count > Self.takersMax ? " and \(names.count - Self.takersMax) more" : ""
        return "\(word) is taken by \(names.prefix(Self.takersMax).map { "\"\($0)\"" }.joined(separator: ", "))\(more)"
    }

    private static let takersMax = 20
}
