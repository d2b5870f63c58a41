public import TidingsModel

/// A screen of the app that a notification can open.
public enum Route: Hashable, Sendable {
    /// The chat screen of a conversation (S0.15, S0.16).
    case conversation(ConversationID)
    /// A screen of the app's own, by the name its table gives it (S1.16, S1.18).
    case detail(screen: String)

    /// The chat screen of a conversation.
    public init(conversation: ConversationID) { self = .conversation(conversation) }

    /// The chat screen a payload's `rc` dictionary names.
    public init(payload: NotificationPayload) { self = .conversation(payload.conversation) }

    /// The conversation on the screen; nil for a screen of the app's own.
    public var conversation: ConversationID? {
        switch self {
        case .conversation(let conversation): conversation
        case .detail: nil
        }
    }
}

/// One step of the way to a screen (S1.17, S1.18, S4.8). The app's shell performs them in order.
public enum NavigationStep: Hashable, Sendable {
    /// Pop the current stack to its root.
    case popToRoot(animated: Bool)
    /// Choose a tab, counted from 0.
    case selectTab(Int)
    /// Push a screen on the current stack.
    case push(Route, animated: Bool, hidesBottomBar: Bool)
}

/// The tabs and screens that are open now.
public struct NavigationState: Hashable, Sendable {
    /// The selected tab; nil for an app without a tab bar.
    public var selectedTab: Int?
    /// The routes above the root of each tab's stack, from the root upwards, nil for a screen that is none of ours. Without a
    /// tab bar there is one stack.
    public var stacks: [[Route?]]

    /// A state from its parts.
    public init(selectedTab: Int? = nil, stacks: [[Route?]]) {
        self.selectedTab = selectedTab
        self.stacks = stacks
    }

    /// The stack on the screen; empty if the state names none.
    public var current: [Route?] {
        let index = self.selectedTab ?? 0
        return self.stacks.indices.contains(index) ? self.stacks[index] : []
    }
}

/// How a tap's screen is put on what is open.
public struct NavigationPolicy: Hashable, Sendable {
    /// True if the open stack is first popped to its root, not animated (S1.17).
    public var popsToRoot: Bool
    /// The tab chosen before pushing, counted from 0 (S1.18); nil stays where it is, and so does one the app does not have.
    public var tab: Int?
    /// True if the bottom bar is hidden under the pushed screen (S1.18).
    public var hidesBottomBar: Bool

    /// A policy from its parts.
    public init(popsToRoot: Bool, tab: Int? = nil, hidesBottomBar: Bool = true) {
        self.popsToRoot = popsToRoot
        self.tab = tab
        self.hidesBottomBar = hidesBottomBar
    }

    /// Outermost first: pop to the root, choose the first tab, push (S1.17, S1.18).
    public static let fromRoot = NavigationPolicy.fromRoot(tab: 0)
    /// Push on whatever is open (S4.8).
    public static let onTop = NavigationPolicy(popsToRoot: false)

    /// Outermost first: pop to the root, choose this tab, push (S1.17, S1.18).
    public static func fromRoot(tab: Int) -> NavigationPolicy { NavigationPolicy(popsToRoot: true, tab: tab) }
    /// Choose this tab, and push on whatever is open there (S4.8).
    public static func onTop(tab: Int) -> NavigationPolicy { NavigationPolicy(popsToRoot: false, tab: tab) }
}

/// The app's table of screens: which notification opens which, in which tab, and the way there from what is open.
///
/// Finds the route of a notification by the app's table. The kit uses it to tell the app's own pushes from those left to the app, and a
/// navigation container to open screens.
public struct NotificationRouter: Hashable, Sendable {
    /// The rows as they were given.
    public let table: [NavigationEntry]

    /// Without a table: conversations from the root in the first tab, and no screen of the app's own.
    public init() { self.table = [] }

    /// A router with the app's table. Conversations without a row go from the root in the first tab.
    ///
    /// - Parameter table: the rows, in any order.
    /// - Throws: `InvalidField`, naming row, field and rule: for a tab below 0, no `types`, an empty type or screen, a type
    ///   `aps`, `rc` or `tidings`, a chat room (S0.17), and a type, screen or kind that has a row already.
    public init(table: [NavigationEntry]) throws(InvalidField) {
        try NavigationEntry.check(table)
        self.table = table
    }

    /// Returns the screen a whole user info names: the one of its `type`, if the table has a row for it (S1.16), otherwise the chat
    /// screen of its `rc` dictionary; nil for an empty user info (S1.15) and for a type without a row, which is left to the app (S1.18).
    /// The type comes first because every push of Tidings has an `rc` dictionary.
    public func route(for userInfo: JSONValue) -> Route? {
        if let type = userInfo["type"]?.stringValue {
            for case .detail(let types, let screen, _) in self.table where types.contains(type) {
                return .detail(screen: screen)
            }
        }
        return (try? NotificationPayload(userInfo: userInfo)).map { Route(payload: $0) }
    }

    /// How a route's screen is put on what is open. A route without a row goes from the root in the first tab.
    public func policy(for route: Route) -> NavigationPolicy {
        let entry =
            switch route {
            case .conversation(let conversation):
                self.table.first { if case .kind(conversation.type, _) = $0 { true } else { false } }
                    ?? self.table.first { if case .conversations = $0 { true } else { false } }
            case .detail(let name):
                self.table.first { if case .detail(_, name, _) = $0 { true } else { false } }
            }
        return entry?.policy ?? .fromRoot
    }

    /// The steps; none if the screen is shown already.
    public func steps(for route: Route, current: NavigationState) -> [NavigationStep] {
        if let top = current.current.last, top == route { return [] }
        let policy = self.policy(for: route)
        var steps: [NavigationStep] = []
        var stack = current.current
        if policy.popsToRoot, !stack.isEmpty {
            steps.append(.popToRoot(animated: false))
            stack = []
        }
        if let tab = policy.tab, let selected = current.selectedTab, selected != tab,
            current.stacks.indices.contains(tab)
        {
            steps.append(.selectTab(tab))
            stack = current.stacks[tab]
            // The other tab keeps its own stack: it is brought to its root too, unless the screen is there already.
            if let top = stack.last, top == route { return steps }
            if policy.popsToRoot, !stack.isEmpty { steps.append(.popToRoot(animated: false)) }
        }
        steps.append(.push(route, animated: true, hidesBottomBar: policy.hidesBottomBar))
        return steps
    }

    /// The steps for a payload's `rc` dictionary.
    public func steps(for payload: NotificationPayload, current: NavigationState) -> [NavigationStep] {
        self.steps(for: Route(payload: payload), current: current)
    }
}
