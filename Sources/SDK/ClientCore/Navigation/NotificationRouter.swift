public import TidingsModel

/// A screen of the app that a notification can open.
public enum Route: Hashable, Sendable {
    /// The chat screen of a conversation (S0.15, S0.16).
    case conversation(ConversationID)
    /// The app's own screen for pushes of its own of this type (S1.16, S1.18).
    case detail(type: String)

    /// The chat screen of a conversation.
    public init(conversation: ConversationID) { self = .conversation(conversation) }

    /// The chat screen a payload's `rc` dictionary names.
    public init(payload: NotificationPayload) { self = .conversation(payload.conversation) }

    /// The screen a whole user info names: the chat screen of its `rc` dictionary, otherwise the screen of its `type`.
    ///
    /// - Parameters:
    ///   - userInfo: the notification's user info.
    ///   - types: the values of `type` the app has a screen for; others are left to the app (S1.18).
    /// - Returns: nil for an empty user info and for anything else (S1.15).
    public init?(userInfo: JSONValue, types: Set<String> = []) {
        if let payload = try? NotificationPayload(userInfo: userInfo) {
            self.init(payload: payload)
        } else if let type = userInfo["type"]?.stringValue, types.contains(type) {
            self = .detail(type: type)
        } else {
            return nil
        }
    }

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

/// What is on the screen now.
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
    /// Whether the open stack is first popped to its root, not animated (S1.17).
    public var popsToRoot: Bool
    /// The tab chosen before pushing (S1.18); nil stays where it is.
    public var tab: Int?
    /// Whether the bottom bar is hidden under the pushed screen (S1.18).
    public var hidesBottomBar: Bool

    /// A policy from its parts.
    public init(popsToRoot: Bool, tab: Int? = nil, hidesBottomBar: Bool = true) {
        self.popsToRoot = popsToRoot
        self.tab = tab
        self.hidesBottomBar = hidesBottomBar
    }

    /// Outermost first: pop to the root, choose the first tab, push (S1.17, S1.18).
    public static let fromRoot = NavigationPolicy(popsToRoot: true, tab: 0)
    /// Push on whatever is open (S4.8).
    public static let onTop = NavigationPolicy(popsToRoot: false)
}

/// Gives the way from what is open to what a notification names.
public struct NotificationRouter: Hashable, Sendable {
    /// How.
    public var policy: NavigationPolicy

    /// A router with a policy.
    public init(policy: NavigationPolicy = .fromRoot) { self.policy = policy }

    /// The steps; none if the screen is shown already.
    public func steps(for route: Route, current: NavigationState) -> [NavigationStep] {
        if let top = current.current.last, top == route { return [] }
        var steps: [NavigationStep] = []
        var stack = current.current
        if self.policy.popsToRoot, !stack.isEmpty {
            steps.append(.popToRoot(animated: false))
            stack = []
        }
        if let tab = self.policy.tab, let selected = current.selectedTab, selected != tab {
            steps.append(.selectTab(tab))
            stack = current.stacks.indices.contains(tab) ? current.stacks[tab] : []
            // The other tab keeps its own stack: it is brought to its root too, unless the screen is there already.
            if let top = stack.last, top == route { return steps }
            if self.policy.popsToRoot, !stack.isEmpty { steps.append(.popToRoot(animated: false)) }
        }
        steps.append(.push(route, animated: true, hidesBottomBar: self.policy.hidesBottomBar))
        return steps
    }

    /// The steps for a payload's `rc` dictionary.
    public func steps(for payload: NotificationPayload, current: NavigationState) -> [NavigationStep] {
        self.steps(for: Route(payload: payload), current: current)
    }
}
