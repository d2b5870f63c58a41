import PhoneCore
import TidingsModel

// Cases that run an app's own code.
extension ScenarioReader {
    /// `app: PATH` is short for `app: {executable: PATH}`, and `server: yes` for a server as it is.
    static func written(_ node: ScenarioNode, _ key: String) -> ScenarioNode {
        guard key == "app", case .scalar = node.value else { return node }
        let member = ScenarioNode.Member(key: "executable", position: node.position, node: node)
        return ScenarioNode(position: node.position, value: .mapping([member]))
    }

    /// - Returns: whether every known key belongs to such a case, or to the others.
    @discardableResult
    mutating func mustFit(_ fields: NodeReader.Fields) -> Bool {
        let keys = fields.section.keys
        var fits = true
        for member in fields.members {
            switch fields.section[member.key]?.cases {
            case .simulated where self.runsCode:
                fits = false
                let all = keys.filter { $0.cases == .ownCode } + keys.filter { $0.cases == .all }
                self.reader.problem(
                    member.position,
                    "\(member.key) is for the simulated app, and this one runs its own code; with app.executable "
                        + "\(fields.section.rawValue) has \(all.map(\.name).joined(separator: ", "))")
            case .ownCode where !self.runsCode:
                fits = false
                self.needCode(member)
            case .simulated, .ownCode, .all, nil: break
            }
        }
        return fits
    }

    mutating func needCode(_ member: ScenarioNode.Member) {
        self.reader.problem(member.position, "\(member.key) needs an app with code of its own: give app.executable")
    }

    /// Keys of the file that no case could use.
    mutating func fileNeedsCode(_ fields: NodeReader.Fields, _ cases: [ScenarioNode]) {
        let apps = [fields["app"]] + cases.map { $0["app"] }
        guard !apps.contains(where: { $0.map { Self.written($0, "app")["executable"] != nil } == true }) else { return }
        for member in fields.members where ScenarioSection.scenarioCase[member.key]?.cases == .ownCode {
            self.needCode(member)
        }
    }

    /// - Returns: nil for the simulated app, or after a problem.
    mutating func ownCode(_ app: ScenarioNode?, _ layered: (String) -> ScenarioNode?) -> OwnCode? {
        guard self.runsCode, let app, let executable = self.executable(app["executable"], "executable") else {
            return nil
        }
        var code = OwnCode(app: executable)
        code.serviceExtension = self.executable(app["extension"], "extension")
        code.server = layered("server").flatMap { self.server($0) }
        for member in app["environment"].flatMap({ self.reader.mapping($0, "environment") }) ?? [] {
            guard let text = self.reader.text(member.node, "environment") else { continue }
            self.mustBeKnown(text, member.node.position, code.server)
            code.environment[member.key] = text
        }
        if let node = layered("stepTime") { code.stepTime = self.realTime(node, "stepTime") ?? code.stepTime }
        if let node = layered("caseTime") { code.caseTime = self.realTime(node, "caseTime") ?? code.caseTime }
        return code
    }

    /// Reads the phone's knowledge of the app beside its code.
    mutating func installation(_ fields: NodeReader.Fields, of installed: inout InstalledApp) {
        guard self.runsCode else { return }
        installed.bundleID = OwnCode.bundle
        installed.appGroup = OwnCode.appGroup
        installed.hasServiceExtension = fields["extension"] != nil
        if let node = fields["bundle"], let text = self.reader.text(node, "bundle") {
            installed.bundleID = BundleID(text)
            if text.isEmpty || text.contains("/") {
                self.reader.problem(node.position, "bundle must be a bundle identifier, got \"\(text)\"")
            }
        }
        if let node = fields["appGroup"] { installed.appGroup = self.reader.text(node, "appGroup") }
    }

    private mutating func executable(_ node: ScenarioNode?, _ name: String) -> OwnCode.Executable? {
        guard let node, let path = self.reader.text(node, name) else { return nil }
        if path.isEmpty { self.reader.problem(node.position, "\(name) must be the path of an executable") }
        return OwnCode.Executable(path: path, position: node.position)
    }

    private mutating func server(_ node: ScenarioNode) -> ServerSetup? {
        guard case .mapping = node.value else {
            let rule = "server must be yes or a mapping (or no)"
            return self.reader.flag(node, rule: rule) == true ? ServerSetup() : nil
        }
        guard let fields = self.reader.fields(node, .server) else { return nil }
        var server = ServerSetup()
        for member in self.reader.mapping("people", in: fields) {
            guard let password = self.reader.text(member.node, "people") else { continue }
            server.people.append(ServerSetup.Account(user: member.key, password: password))
        }
        for member in self.reader.mapping("settings", in: fields) {
            guard let text = self.reader.text(member.node, "settings") else { continue }
            server.settings[member.key] = text
            if member.key.split(separator: ".", omittingEmptySubsequences: false).count < 2 {
                self.reader.problem(
                    member.position, "a key of the configuration is written group.key, got \"\(member.key)\"")
            }
        }
        return server
    }

    /// A time that really passes.
    private mutating func realTime(_ node: ScenarioNode, _ name: String) -> Int64? {
        guard let time = self.reader.time(node, name) else { return nil }
        guard (1...Self.realTimeMax).contains(time) else {
            self.reader.problem(node.position, "\(name) must be 1 ms to 1 h: it is real time, got \(node.kind)")
            return nil
        }
        return time
    }

    private static let realTimeMax: Int64 = 3_600_000

    // MARK: Steps

    typealias ScreenStepReading = @Sendable (inout ScenarioReader, ScenarioNode) -> StepAction?

    static let screenSteps: [String: ScreenStepReading] = [
        "press": { $0.view($1, "press").map { .screen(.touch(view: $0, .tap)) } },
        "hold": { $0.view($1, "hold").map { .screen(.touch(view: $0, .longPress)) } },
        "submit": { $0.view($1, "submit").map { .screen(.touch(view: $0, .submit)) } },
        "enter": { $0.enter($1) }, "scroll": { $0.scroll($1) }, "swipe": { $0.swipe($1) },
        "input": { .screen(.input($0.reader.json($1))) }, "message": { $0.serverMessage($1) },
        "wait": { $0.realTime($1, "wait").map { .wait($0) } },
    ]

    private mutating func view(_ node: ScenarioNode, _ name: String) -> String? {
        guard let text = self.reader.text(node, name) else { return nil }
        if text.isEmpty { self.reader.problem(node.position, "\(name) must name a view") }
        return text
    }

    private mutating func enter(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .enter), let textNode = fields["text"],
            let text = self.reader.text(textNode, "text")
        else { return nil }
        self.mustBeKnown(text, textNode.position, self.steps.server)
        let submits = fields["submit"].flatMap { self.reader.flag($0, "submit") } ?? false
        return .screen(.enter(text, into: fields["into"].flatMap { self.view($0, "into") }, submits: submits))
    }

    private static let vertical: [(String, ViewAction.Direction)] = [("up", .up), ("down", .down)]

    private mutating func scroll(_ node: ScenarioNode) -> StepAction? {
        guard case .mapping = node.value else {
            return self.reader.word(node, "scroll", Self.vertical).map { .screen(.scroll($0, view: nil, until: nil)) }
        }
        guard let fields = self.reader.fields(node, .scroll) else { return nil }
        let direction = fields["direction"].flatMap { self.reader.word($0, "direction", Self.vertical) } ?? .down
        return .screen(
            .scroll(
                direction, view: fields["in"].flatMap { self.view($0, "in") },
                until: fields["until"].flatMap { self.view($0, "until") }))
    }

    private mutating func swipe(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .swipe),
            let view = fields["on"].flatMap({ self.view($0, "on") }),
            let way = fields["direction"].flatMap({ self.reader.word($0, "direction", ViewAction.Direction.self) })
        else { return nil }
        return .screen(.touch(view: view, .swipe(way)))
    }

    private mutating func serverMessage(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .message), self.mustFit(fields) else { return nil }
        if self.steps.server == nil {
            self.reader.problem(node.position, "message needs a server: give server: yes")
        }
        guard let label = fields["id"].flatMap({ self.name($0) }),
            let recipient = self.reader.needed("to", in: fields).flatMap({ self.reader.text($0, "to") })
        else { return nil }
        let sender = self.reader.text("from", in: fields) ?? "bob"
        let text = self.reader.text("text", in: fields) ?? label
        return .screen(.message(ServerMessage(label: label, sender: sender, recipient: recipient, text: text)))
    }

    // MARK: Expectations

    mutating func screenExpectation(_ fields: NodeReader.Fields) -> Expectation? {
        var expectation = Expectation(checks: self.checks(fields))
        if let member = fields.members.first(where: { $0.key == "screen" }) {
            expectation.screen = self.screenCheck(member)
        }
        if let node = fields["within"] {
            expectation.within = self.realTime(node, "within")
            if fields.members.count == 1 { self.reader.problem(fields.position, "expect must check something") }
        }
        return expectation
    }

    private mutating func screenCheck(_ member: ScenarioNode.Member) -> ScreenCheck? {
        guard let fields = self.reader.fields(member.node, .screen) else { return nil }
        var check = ScreenCheck(position: member.position)
        let parts: [(String, WritableKeyPath<ScreenCheck, [String]>)] = [
            ("shows", \.shows), ("contains", \.contains), ("lacks", \.lacks),
        ]
        for (key, path) in parts {
            guard let node = fields[key] else { continue }
            check[keyPath: path] = self.reader.texts(node, key) ?? []
            // Every text holds an empty one.
            if check[keyPath: path].contains("") {
                self.reader.problem(node.position, "\(key): a text must say something")
            }
        }
        if check.shows.isEmpty, check.contains.isEmpty, check.lacks.isEmpty {
            self.reader.problem(member.node.position, "screen must name a text")
        }
        return check
    }

    func screenMember(of node: ScenarioNode) -> ScenarioNode.Member? {
        guard case .mapping(let members) = node.value else { return nil }
        return members.first { ["shows", "contains", "lacks"].contains($0.key) }
    }

    // MARK: Addresses

    private mutating func mustBeKnown(_ text: String, _ position: ScenarioPosition, _ server: ServerSetup?) {
        for name in ServerWords.names(in: text) {
            guard ServerWords(name) != nil else {
                // Without a server it is a text like any other.
                guard server != nil else { continue }
                let allowed = ServerWords.allowed
                self.reader.problem(position, "unknown name \"\(name)\"\(Suggestion.text(for: name, among: allowed))")
                continue
            }
            if server == nil { self.reader.problem(position, "${\(name)} needs a server: give server: yes") }
            if server?.people.isEmpty == true, name == "backend" {
                self.reader.problem(position, "${backend} needs people who sign in there: give server.people")
            }
        }
    }
}

extension ScreenStep {
    var label: String? {
        switch self {
        case .touch(let view, _): view
        case .enter(let text, let view, _): view.map { "\(text) into \($0)" } ?? text
        case .scroll(let direction, let view, let until):
            [direction.rawValue, view, until.map { "until \($0)" }].compactMap(\.self).joined(separator: " ")
        case .input(let value): value.text
        case .message(let message): message.label
        }
    }
}
