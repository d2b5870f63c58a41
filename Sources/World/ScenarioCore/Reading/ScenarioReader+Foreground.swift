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

    mutating func foreground(_ node: ScenarioNode, _ sdk: inout SDKSetup) {
        guard let fields = self.reader.fields(node, .foreground) else { return }
        self.reader.read("banner", in: fields, into: &sdk.foreground.showsInAppBanner) { $0.flag($1, $2) }
        self.reader.read("sound", in: fields, into: &sdk.foreground.playsSound) { $0.flag($1, $2) }
        self.reader.read("vibration", in: fields, into: &sdk.foreground.vibrates) { $0.flag($1, $2) }
        self.reader.read("messages", in: fields, into: &sdk.kit.ringsInForeground) { $0.flag($1, $2) }
        if let node = fields["conversation"], let text = self.reader.text(node, "conversation") {
            sdk.kit.activeConversation = self.conversation(text, node.position)
        }
    }

    mutating func navigation(_ node: ScenarioNode, _ sdk: inout SDKSetup) {
        guard let fields = self.reader.fields(node, .navigation) else { return }
        if let node = fields["table"] { sdk.router = self.router(node) }
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

    private mutating func router(_ node: ScenarioNode) -> NotificationRouter {
        let rows = (self.reader.list(node, "table") ?? []).compactMap { self.row($0) }
        do {
            return try NotificationRouter(table: rows)
        } catch {
            self.reader.problem(node.position, error.description)
            return NotificationRouter()
        }
    }

    private mutating func row(_ node: ScenarioNode) -> NavigationEntry? {
        guard let fields = self.reader.fields(node, .row) else { return nil }
        let policies: [(String, NavigationPolicy)] = [("fromRoot", .fromRoot), ("onTop", .onTop)]
        var policy = NavigationPolicy.fromRoot
        self.reader.read("policy", in: fields, into: &policy) { $0.word($1, $2, policies) }
        if let node = fields["tab"] { policy.tab = self.reader.number(node, "tab") }
        if let node = fields["bottomBar"] { policy.hidesBottomBar = self.reader.flag(node, "bottomBar") == false }
        switch (fields["conversations"], fields["types"]) {
        case (let node?, nil):
            if let screen = fields["screen"] {
                self.reader.problem(screen.position, "conversations have their chat screens: no `screen`")
            }
            let kinds = ConversationType.allCases.map { ($0.rawValue, NavigationEntry.kind($0, policy)) }
            return self.reader.word(node, "conversations", [("all", .conversations(policy))] + kinds)
        case (nil, let node?):
            guard let types = self.reader.texts(node, "types"), let screen = self.reader.needed("screen", in: fields)
            else { return nil }
            return self.reader.text(screen, "screen").map { .detail(types: types, screen: $0, policy) }
        default:
            self.reader.problem(node.position, "a row is for `conversations` or for `types`: one of the two")
            return nil
        }
    }

    private mutating func screens(_ node: ScenarioNode) -> [Route?] {
        (self.reader.list(node, "screens") ?? []).map { node in
            guard node.text != "other", let text = self.reader.text(node, "screen") else { return nil }
            let words = text.split(separator: " ", maxSplits: 1)
            if words.count == 2, words[0] == "detail" { return .detail(screen: String(words[1])) }
            return self.conversation(text, node.position).map { .conversation($0) }
        }
    }
}
