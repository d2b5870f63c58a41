import Foundation
package import PhoneCore
import VirtualPhone

// The windows of an app as a person meets them, and what a person does with a view.

extension UIApplication: ViewHosting {
    package var viewTree: [ViewNode] {
        let (windows, first) = self.shownWindows
        return windows.enumerated().flatMap { $1.nodes(isSpoken: true, isCovered: $0 < first) }
    }

    package func perform(_ action: ViewAction, on name: String) -> Bool {
        self.touch { windows in
            for window in windows {
                if let view = window.front(isSpoken: true, where: { $0?.isCalled(name) == true }) {
                    return view.perform(action)
                }
            }
            return false
        }
    }

    package func perform(_ action: ViewAction) -> Bool {
        var listed = action
        if case .enter = action { listed = .enter("") }
        return self.touch { windows in
            if action == .escape { return windows.contains { $0.frontLeaf.perform(action) } }
            for window in windows {
                if let view = window.front(isSpoken: true, where: { $0?.actions.contains(listed) == true }) {
                    return view.perform(action)
                }
            }
            return false
        }
    }

    /// Gives the windows that a touch can reach, front to back. What rows have for it is asked now, and what it changed later.
    private func touch(_ body: ([UIWindow]) -> Bool) -> Bool {
        let (windows, first) = self.shownWindows
        for window in windows { window.touches += 1 }
        defer { for window in windows { window.touches += 1 } }
        return body(windows.dropFirst(first).reversed())
    }

    /// Back to front, and the first that no other covers. The key window may be one that no scene has.
    private var shownWindows: (windows: [UIWindow], firstUncovered: Int) {
        var windows = self.windows
        if let key = self.keyWindow, !windows.contains(where: { $0 === key }) { windows.append(key) }
        windows = windows.filter(\.isSeen)
        for window in windows { window.layOut() }
        return (windows, windows.lastIndex { $0.subviews.contains { $0.coversTouches && $0.isSeen } } ?? 0)
    }
}

extension UIView {
    fileprivate var isSeen: Bool { !self.isHidden && self.alpha >= 0.01 }

    /// From which subview on nothing covers them.
    private var firstUncovered: Int { self.subviews.lastIndex { $0.coversTouches && $0.isSeen } ?? 0 }
    /// From which one on they are seen: alerts and menus leave room around them, other screens do not.
    private var firstUnhidden: Int {
        self.subviews.lastIndex { $0.coversTouches && $0.isSeen && !($0 is AlertView || $0 is MenuView) } ?? 0
    }
    fileprivate var frontLeaf: UIView { self.subviews.last(where: \.isSeen)?.frontLeaf ?? self }

    /// - Parameters:
    ///   - isSpoken: false within a view that VoiceOver speaks of as one.
    ///   - isCovered: whether something takes the touches.
    fileprivate func nodes(isSpoken: Bool, isCovered: Bool) -> [ViewNode] {
        guard self.isSeen else { return [] }
        let first = self.firstUncovered
        let hidden = self.firstUnhidden
        let isSpokenInside = isSpoken && !self.isAccessibilityElement
        let children = self.subviews.enumerated().dropFirst(hidden).flatMap { place, view in
            view.nodes(isSpoken: isSpokenInside, isCovered: isCovered || place < first)
        }
        guard var node = self.node(isSpoken: isSpoken) else { return children }
        if isCovered { node.actions = [] }
        node.children = children
        return [node]
    }

    /// Nil for a view that only holds others, and for one of nothing. Without what is in it.
    private func node(isSpoken: Bool) -> ViewNode? {
        let text = self.writtenText
        // Scripts and drawings tell symbols apart by it.
        let identifier = self.accessibilityIdentifier ?? (self as? UIImageView)?.image?.symbol
        var node = ViewNode(
            self.viewRole, text: text, identifier: identifier, isSelected: self.isChosen, actions: self.takenActions)
        if isSpoken, self.isSpokenOf {
            node.label = self.accessibilityLabel ?? self.placeholderText ?? text
            node.value = self.accessibilityValue
            node.hint = self.accessibilityHint ?? (text == nil ? self.placeholderText : nil)
        }
        let isNamed = node.label != nil || node.identifier != nil
        switch node.role {
        case .window, .button, .control, .textField, .switch, .table, .row, .navigationBar, .tabBar, .alert, .menu:
            return node
        case .text, .header: return text == nil && !isNamed ? nil : node
        case .image: return (self as? UIImageView)?.image == nil && !isNamed ? nil : node
        case .group: return isNamed || !node.actions.isEmpty ? node : nil
        }
    }

    /// A container has a name though VoiceOver reads what is in it.
    private var isSpokenOf: Bool {
        switch self.viewRole {
        case .table, .row, .alert, .menu, .navigationBar, .tabBar:
            self.isAccessibilityElement || self.accessibilityLabel != nil
        case .window, .group, .text, .image, .button, .control, .textField, .switch, .header:
            self.isAccessibilityElement
        }
    }

    private var viewRole: ViewNode.Role {
        switch self {
        case is UIWindow: .window
        case is TableHeader: .header
        case is UILabel: .text
        case is UIImageView: .image
        case is UITextField, is UITextView: .textField
        case is UISwitch: .switch
        case is UITableView: .table
        case is UITableViewCell: .row
        case is UINavigationBar: .navigationBar
        case is UITabBar: .tabBar
        case is AlertView: .alert
        case is MenuView: .menu
        case is UIButton: .button
        case is UIControl: self.accessibilityTraits.contains(.button) ? .button : .control
        default: .group
        }
    }

    private var writtenText: String? {
        let text: String? =
            switch self {
            case let label as UILabel: label.text
            case let button as UIButton: button.currentTitle
            case let field as UITextField:
                field.isSecureTextEntry ? String(repeating: "•", count: field.text?.count ?? 0) : field.text
            case let view as UITextView: view.text
            default: nil
            }
        return text?.isEmpty == true ? nil : text
    }

    private var placeholderText: String? { (self as? UITextField)?.placeholder }

    private var isChosen: Bool {
        if let cell = self as? UITableViewCell, cell.accessoryType == .checkmark || cell.isSelected { return true }
        return (self as? UIControl)?.isSelected == true || self.accessibilityTraits.contains(.selected)
    }

    private var takenActions: [ViewAction] {
        guard self.takesTouches else { return [] }
        let names = self.swipeActions.compactMap(\.title) + (self.accessibilityCustomActions ?? []).map(\.name)
        return (self.takesTaps ? [.tap] : []) + (self.takesText ? [.enter("")] : [])
            + (self is UITextField || self is UITextView ? self.takesText ? [.submit] : [] : [])
            + (self.contextMenu == nil ? [] : [.longPress]) + self.scrollDirections.map { .scroll($0) }
            + names.map { .named($0) }
    }

    private var takesTouches: Bool {
        self.isUserInteractionEnabled && (self.superview?.takesTouches ?? true)
    }

    fileprivate func front(isSpoken: Bool, where holds: (ViewNode?) -> Bool) -> UIView? {
        guard self.isSeen else { return nil }
        let isSpokenInside = isSpoken && !self.isAccessibilityElement
        for view in self.subviews.dropFirst(self.firstUncovered).reversed() {
            if let found = view.front(isSpoken: isSpokenInside, where: holds) { return found }
        }
        return holds(self.node(isSpoken: isSpoken)) ? self : nil
    }

    // MARK: A person

    /// Returns false if nothing takes it.
    fileprivate func perform(_ action: ViewAction) -> Bool {
        switch action {
        case .tap: return self.tap()
        case .activate: return self.takesTouches && (self.accessibilityActivate() || self.tap())
        case .longPress:
            guard let view = self.touched?.nearest({ $0.contextMenu != nil }), let menu = view.contextMenu else {
                return false
            }
            MenuView.open(menu, over: view)
            return true
        case .swipe(let direction): return self.swipe(direction)
        case .scroll(let direction):
            guard let view = self.touched?.nearest({ $0.scrollDirections.contains(direction) }) else { return false }
            view.scroll(direction)
            return true
        case .enter(let text): return self.touched?.nearest { $0.takesText }?.type(text) == true
        case .submit: return self.touched?.nearest { $0.takesText }?.pressReturn() == true
        case .escape:
            var responder: UIResponder? = self
            while let candidate = responder, !candidate.accessibilityPerformEscape() { responder = candidate.next }
            return responder != nil
        case .named(let name):
            guard let view = self.touched?.nearest({ $0.takenActions.contains(action) }) else { return false }
            if let own = view.accessibilityCustomActions?.first(where: { $0.name == name }) {
                return own.actionHandler?(own) == true
            }
            guard let swipe = view.swipeActions.first(where: { $0.title == name }) else { return false }
            (view as? UITableViewCell)?.perform(swipe)
            return true
        }
    }

    /// Who gets a touch here: the first from here outwards that takes touches with all it is in.
    private var touched: UIView? { self.takesTouches ? self : self.superview?.touched }

    /// The first from here outwards of which something holds.
    private func nearest(_ holds: (UIView) -> Bool) -> UIView? { holds(self) ? self : self.superview?.nearest(holds) }

    /// A control keeps a tap for itself, even one that does nothing with it.
    private func tap() -> Bool {
        guard let view = self.touched?.nearest({ $0 is UIControl || $0.takesTaps }), view.takesTaps else {
            return false
        }
        if view is UIControl { view.touch([]) } else { view.receiveTap() }
        return true
    }

    private func swipe(_ direction: ViewAction.Direction) -> Bool {
        guard let view = self.touched else { return false }
        if view.nearest({ $0 is UIControl }) == nil {
            switch direction {
            case .left, .right:
                // Lines begin on the left here.
                let row = view.nearest { $0 is UITableViewCell } as? UITableViewCell
                if row?.swipe(leading: direction == .right) == true { return true }
            case .up, .down:
                let next: ViewAction.Direction = direction == .up ? .down : .up
                if let scroll = view.nearest({ $0.scrollDirections.contains(next) }) {
                    scroll.scroll(next)
                    return true
                }
            }
        }
        view.touch(Array(repeating: direction.step, count: 6))
        return true
    }

    private func touch(_ steps: [CGPoint]) {
        let touch = UITouch(on: self)
        let event = UIEvent()
        self.touchesBegan([touch], with: event)
        for step in steps {
            touch.move(by: step)
            self.touchesMoved([touch], with: event)
        }
        self.touchesEnded([touch], with: event)
    }
}

extension ViewAction.Direction {
    /// 16 points, of which six make a short swipe.
    fileprivate var step: CGPoint {
        switch self {
        case .up: CGPoint(x: 0, y: -16)
        case .down: CGPoint(x: 0, y: 16)
        case .left: CGPoint(x: -16, y: 0)
        case .right: CGPoint(x: 16, y: 0)
        }
    }
}
