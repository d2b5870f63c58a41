import ClientCore
import TidingsModel

// What the app does in the foreground: its choice, its own rings, its screens.
extension ScenarioReader {
    mutating func presents(_ node: ScenarioNode) -> PresentationHabit {
        guard case .mapping = node.value else { return PresentationHabit(choice: self.choice(node)) }
        var habit = PresentationHabit()
        guard let fields = self.reader.fields(node, .answer) else { return habit }
        if let node = fields["result"] { habit.choice = self.choice(node) }
        if let node = fields["after"] { habit.after = self.reader.time(node, "after") ?? 0 }
        for key in ["twice", "of"] {
            if let node = fields[key] {
                self.reader.problem(node.position, "the app chooses by returning, for all alike: no `\(key)`")
            }
        }
        return habit
    }

    private mutating func choice(_ node: ScenarioNode) -> PresentationHabit.Choice {
        if node.text == "never" { return .never }
        let words: [(String, PresentationOptions)] = [
            ("banner", .banner), ("list", .list), ("sound", .sound), ("badge", .badge),
        ]
        return .own(self.reader.options(node, "presentation option", words) ?? [])
    }

    mutating func foreground(_ node: ScenarioNode, _ presentation: inout ForegroundPresentation) {
        guard let fields = self.reader.fields(node, .foreground) else { return }
        self.reader.read("banner", in: fields, into: &presentation.showsInAppBanner) { $0.flag($1, $2) }
        self.reader.read("sound", in: fields, into: &presentation.playsSound) { $0.flag($1, $2) }
        self.reader.read("vibration", in: fields, into: &presentation.vibrates) { $0.flag($1, $2) }
    }

    mutating func navigation(_ node: ScenarioNode, _ sdk: inout SDKSetup) {
        guard let fields = self.reader.fields(node, .navigation) else { return }
        let policies: [(String, NavigationPolicy)] = [("fromRoot", .fromRoot), ("onTop", .onTop)]
        self.reader.read("policy", in: fields, into: &sdk.router.policy) { $0.word($1, $2, policies) }
        if let node = fields["stack"] {
            sdk.screens.stacks = [self.screens(node)]
            if let tabs = fields["tabs"] {
                self.reader.problem(tabs.position, "an app has tabs or one stack: one of the two can go")
            }
        }
        if let node = fields["tabs"] {
            sdk.screens.stacks = (self.reader.list(node, "tabs") ?? []).map { self.screens($0) }
            sdk.screens.selectedTab = 0
        }
        guard let node = fields["selected"] else { return }
        let selected = self.reader.number(node, "selected") ?? 0
        if fields["tabs"] == nil || !sdk.screens.stacks.indices.contains(selected) {
            self.reader.problem(node.position, "selected must be one of the tabs, counted from 0, got \(selected)")
        }
        sdk.screens.selectedTab = selected
    }

    private mutating func screens(_ node: ScenarioNode) -> [Route?] {
        (self.reader.list(node, "screens") ?? []).map { node in
            guard node.text != "other", let text = self.reader.text(node, "screen") else { return nil }
            return self.conversation(text, node.position).map { .conversation($0) }
        }
    }
}
