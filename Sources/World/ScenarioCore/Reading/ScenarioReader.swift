import PhoneCore

package struct ScenarioReader {
    var reader = NodeReader()

    /// - Throws: `ScenarioProblems`, in the order of the file.
    package static func scenario(of node: ScenarioNode) throws(ScenarioProblems) -> Scenario {
        var reader = ScenarioReader()
        let scenario = reader.file(node)
        guard let scenario, reader.reader.problems.isEmpty else {
            throw ScenarioProblems(problems: reader.reader.problems.sorted { $0.position < $1.position })
        }
        return scenario
    }

    private mutating func file(_ node: ScenarioNode) -> Scenario? {
        guard let fields = self.reader.fields(node, .file) else { return nil }
        let title = self.reader.text("title", in: fields)
        let requirements = self.requirements(fields["requirement"])
        let source = self.reader.text("source", in: fields)
        guard let list = fields["cases"], let nodes = self.reader.list(list, "cases") else { return nil }
        if nodes.isEmpty { self.reader.problem(list.position, "cases must hold at least one case") }
        var cases: [ScenarioCase] = []
        self.fileNeedsCode(fields, nodes)
        for node in nodes {
            for read in self.cases(node, file: fields, requirements: requirements) {
                if cases.contains(where: { $0.name == read.name }) {
                    self.reader.problem(read.position, "the case name \"\(read.name)\" is used twice")
                }
                cases.append(read)
            }
        }
        return title.map { Scenario(title: $0, source: source, requirements: requirements, cases: cases) }
    }

    /// `S1.4` or a list of up to three.
    private mutating func requirements(_ node: ScenarioNode?) -> [String] {
        guard let node else { return [] }
        let nodes: [ScenarioNode]
        if case .sequence(let list) = node.value { nodes = list } else { nodes = [node] }
        if nodes.isEmpty || nodes.count > 3 {
            self.reader.problem(node.position, "requirement must name 1 to 3 requirements, got \(nodes.count)")
        }
        return nodes.compactMap { node in
            guard let text = self.reader.text(node, "requirement") else { return nil }
            guard Self.isRequirement(text) else {
                self.reader.problem(
                    node.position,
                    "requirement must be S0.1 to S4.13 as in docs/inside/requirements.md, got \"\(text)\"")
                return nil
            }
            return text
        }
    }

    /// How many requirements each seed has (ios-delivery.md §1).
    private static let requirementCounts = [22, 18, 22, 13, 13]

    static func isRequirement(_ text: String) -> Bool {
        let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard text.hasPrefix("S"), parts.count == 2, let seed = Int(parts[0]), let number = Int(parts[1]),
            Self.requirementCounts.indices.contains(seed), text == "S\(seed).\(number)"
        else { return false }
        return (1...Self.requirementCounts[seed]).contains(number)
    }

    // MARK: Cases

    private mutating func cases(
        _ node: ScenarioNode, file: NodeReader.Fields, requirements: [String]
    ) -> [ScenarioCase] {
        guard let fields = self.reader.fields(node, .scenarioCase),
            let name = self.reader.text("case", in: fields)
        else { return [] }
        var all = requirements
        for row in self.requirements(fields["requirement"]) where !all.contains(row) { all.append(row) }
        if all.count > 3, let node = fields["requirement"] {
            self.reader.problem(node.position, "a case can hold 3 requirements at most, the file's included: \(all)")
        }
        let layered = { (key: String) -> ScenarioNode? in
            let own = fields[key].map { Self.written($0, key) }
            return file[key].map { Self.written($0, key).overlaid(by: own) } ?? own
        }
        let phoneNode = layered("phone")
        let appNode = layered("app")
        self.runsCode = appNode?["executable"] != nil
        self.mustFit(fields)
        if self.runsCode, let node = fields["for"]?["start"] {
            self.reader.problem(node.position, "with app.executable a case begins with an app that is not running")
        }
        let axes = self.axes(fields["for"])
        var read: [ScenarioCase] = []
        for variation in axes {
            var phone = phoneNode.map { self.phone($0) } ?? PhoneSetup()
            if let version = variation.version { phone.version = version }
            guard var app = self.app(appNode) else { continue }
            let code = self.ownCode(appNode, layered)
            if let lifecycle = variation.lifecycle { app.installed.lifecycle = lifecycle }
            if let node = fields["start"], variation.start != nil {
                self.reader.problem(node.position, "start stands in `for` already")
            }
            let start = variation.start ?? fields["start"].flatMap { self.start($0) }
            var one = ScenarioCase(
                name: name + variation.suffix, position: node.position, requirements: all, phone: phone, app: app,
                before: [], start: start ?? .notRunning, steps: [], code: code)
            self.steps = StepContext(
                sdk: app.sdk != nil, hasKit: app.sdk?.hasKit == true, server: code?.server)
            if let before = fields["before"] { one.before = self.steps(before, "before", mayExpect: false) }
            if fields["columns"] != nil || fields["matrix"] != nil {
                read += self.matrix(fields, one)
            } else if let steps = self.reader.needed("steps", in: fields) {
                one.steps = self.steps(steps, "steps", mayExpect: true)
                if !one.steps.contains(where: { if case .expect = $0.action { true } else { false } }) {
                    self.reader.problem(
                        steps.position, "steps must hold at least one expect: a case without cannot fail")
                }
                self.mustKeepPromises(one)
                read.append(one)
            }
        }
        return read
    }

    private struct Variation {
        var version: OSVersion?
        var start: StartState?
        var lifecycle: LifecycleStyle?

        var suffix: String {
            let parts = [
                self.version.map { "iOS \($0)" }, self.start.map(\.code), self.lifecycle.map(\.rawValue),
            ].compactMap { $0 }
            return parts.isEmpty ? "" : " — " + parts.joined(separator: ", ")
        }
    }

    private mutating func axes(_ node: ScenarioNode?) -> [Variation] {
        guard let node, let fields = self.reader.fields(node, .variations) else { return [Variation()] }
        if fields.members.isEmpty {
            self.reader.problem(node.position, "for must name at least one of ios, start, lifecycle")
        }
        var all = [Variation()]
        func multiply<Value>(_ values: [Value], _ path: WritableKeyPath<Variation, Value?>) {
            all = all.flatMap { variation in
                values.map { value in
                    var variation = variation
                    variation[keyPath: path] = value
                    return variation
                }
            }
        }
        if let node = fields["ios"], let nodes = self.reader.list(node, "ios") {
            multiply(nodes.compactMap { self.version($0) }, \.version)
        }
        if let node = fields["start"], let nodes = self.reader.list(node, "start") {
            multiply(nodes.compactMap { self.start($0) }, \.start)
        }
        if let node = fields["lifecycle"] {
            let words = LifecycleStyle.allCases.map { ($0.rawValue, $0) }
            multiply(self.reader.words(node, "lifecycle", words) ?? [], \.lifecycle)
        }
        if all.isEmpty { self.reader.problem(node.position, "for must name at least one value for each key") }
        return all
    }

    private mutating func matrix(_ fields: NodeReader.Fields, _ model: ScenarioCase) -> [ScenarioCase] {
        guard let columnsNode = self.reader.needed("columns", in: fields),
            let matrixNode = self.reader.needed("matrix", in: fields),
            let columns = self.reader.mapping(columnsNode, "columns"),
            let rows = self.reader.mapping(matrixNode, "matrix")
        else { return [] }
        for key in ["steps", "start"] {
            guard let node = fields[key] else { continue }
            self.reader.problem(node.position, "a case with a matrix has no \(key) of its own")
        }
        if let node = fields["for"]?["start"] {
            self.reader.problem(node.position, "a case with a matrix has its start states in its rows")
        }
        // What `before` of the case has named is known in every cell.
        let named = self.steps
        var cases: [ScenarioCase] = []
        for row in rows {
            guard let start = self.start(row.key, row.position),
                let cells = self.reader.mapping(row.node, "a row of the matrix")
            else { continue }
            let names = columns.map(\.key)
            for cell in cells where !names.contains(cell.key) {
                self.reader.problem(
                    cell.position, "unknown column \"\(cell.key)\"\(Suggestion.text(for: cell.key, among: names))")
            }
            for column in columns {
                guard let cell = cells.first(where: { $0.key == column.key }) else {
                    self.reader.problem(
                        row.position,
                        "row \"\(row.key)\" has no cell for the column \"\(column.key)\"; "
                            + "write `cannot happen` if there is none")
                    continue
                }
                if cell.node.text == "cannot happen" { continue }
                cases.append(self.cell(cell.node, start, column, model, named))
            }
        }
        if cases.isEmpty, self.reader.problems.isEmpty {
            self.reader.problem(matrixNode.position, "matrix must hold at least one cell that can happen")
        }
        return cases
    }

    private mutating func cell(
        _ node: ScenarioNode, _ start: StartState, _ column: ScenarioNode.Member, _ model: ScenarioCase,
        _ named: StepContext
    ) -> ScenarioCase {
        var one = model
        one.name += " — \(start.code), \(column.key)"
        one.position = node.position
        one.start = start
        self.steps = named
        if let fields = self.reader.fields(column.node, .column) {
            if let before = fields["before"] { one.before += self.steps(before, "before", mayExpect: false) }
            if let steps = fields["steps"] {
                one.steps = self.steps(steps, "steps", mayExpect: true)
            }
        }
        if let expectation = self.expectation(node) {
            one.steps.append(Step(position: node.position, action: .expect(expectation), words: "expect"))
        }
        self.mustKeepPromises(one)
        return one
    }

    // MARK: Names

    /// A notification that the app's setup names and a step has to bring.
    struct Promise {
        var name: String
        var position: ScenarioPosition
        var key: String
        var isMessage = false
    }

    mutating func promise(_ member: ScenarioNode.Member, of key: String, isMessage: Bool = false) {
        self.promised.append(
            Promise(name: member.key, position: member.position, key: key, isMessage: isMessage))
    }

    /// An answer for a notification that never comes would check nothing.
    private mutating func mustKeepPromises(_ one: ScenarioCase) {
        for promise in self.promised {
            let all = promise.isMessage ? self.steps.messages : self.steps.labels
            guard !all.contains(promise.name) else { continue }
            let kind = promise.isMessage ? "message" : "notification"
            self.reader.problem(
                promise.position,
                "\(promise.key): no step of the case \"\(one.name)\" brings a \(kind) \"\(promise.name)\""
                    + Suggestion.text(for: promise.name, among: all.isEmpty ? ["none"] : all))
        }
        guard one.app.sdk?.phonePosition != nil, one.start.hasProcess else { return }
        self.reader.problem(
            one.position,
            "phonePosition needs a start without a process (not running, force-quit, before first unlock): "
                + "an app that runs knows what it has, got \(one.start.rawValue)")
    }

    // MARK: Words

    mutating func version(_ node: ScenarioNode) -> OSVersion? {
        if let text = node.text, let version = OSVersion(text) { return version }
        self.reader.problem(node.position, "ios must be a version such as 17 or 9.3, 3 or later, got \(node.kind)")
        return nil
    }

    private mutating func start(_ node: ScenarioNode) -> StartState? {
        self.reader.text(node, "start").flatMap { self.start($0, node.position) }
    }

    private mutating func start(_ text: String, _ position: ScenarioPosition) -> StartState? {
        if let state = StartState.allCases.first(where: { $0.rawValue == text || $0.code == text }) { return state }
        let allowed = StartState.allCases.map(\.rawValue) + StartState.allCases.map(\.code)
        self.reader.problem(position, "unknown state \"\(text)\"\(Suggestion.text(for: text, among: allowed))")
        return nil
    }

    var steps = StepContext()
    var promised: [Promise] = []
    /// True if the case that is read has an app's own code.
    var runsCode = false
}

package struct ScenarioProblems: Error, Hashable, Sendable {
    /// In the order of the file, at least one.
    package var problems: [ScenarioProblem]
}
