import Foundation
package import PhoneCore
import VirtualPhone

// The windows of an app as a person meets them, and what a person does with a view.

extension UIApplication: ViewHosting {
    package var viewTree: [ViewNode] { self.shownWindows.flatMap { $0.nodes(isSpoken: true) } }

    package func perform(_ action: ViewAction, on name: String) -> Bool {
        for window in self.shownWindows.reversed() {
            if let view = window.front(called: name, isSpoken: true) { return view.perform(action) }
        }
        return false
    }

    /// Back to front. The key window may be one that no scene has.
    private var shownWindows: [UIWindow] {
        var windows = self.windows
        if let key = self.keyWindow, !windows.contains(where: { $0 === key }) { windows.append(key) }
        return windows.filter(\.isSeen)
    }
}

extension UIView {
    fileprivate var isSeen: Bool { !self.isHidden && self.alpha >= 0.01 }

    /// - Parameter isSpoken: false within a view that VoiceOver speaks of as one.
    fileprivate func nodes(isSpoken: Bool) -> [ViewNode] {
        guard self.isSeen else { return [] }
        let children = self.subviews.flatMap { $0.nodes(isSpoken: isSpoken && !self.isAccessibilityElement) }
        guard var node = self.node(isSpoken: isSpoken) else { return children }
        node.children = children
        return [node]
    }

    /// Nil for a view that only holds others, and for one of nothing.
    private func node(isSpoken: Bool) -> ViewNode? {
        let text = self.writtenText
        var node = ViewNode(
            self.viewRole, text: text, identifier: self.accessibilityIdentifier, actions: self.takenActions)
        if isSpoken, self.isAccessibilityElement {
            node.label = self.accessibilityLabel ?? text
            node.value = self.accessibilityValue
            node.hint = self.accessibilityHint
        }
        let isNamed = node.label != nil || node.identifier != nil
        switch node.role {
        case .window, .button, .control: return node
        case .text: return text == nil && !isNamed ? nil : node
        case .image: return (self as? UIImageView)?.image == nil && !isNamed ? nil : node
        case .group: return isNamed || !node.actions.isEmpty ? node : nil
        }
    }

    private var viewRole: ViewNode.Role {
        switch self {
        case is UIWindow: .window
        case is UILabel: .text
        case is UIImageView: .image
        case is UIButton: .button
        case is UIControl: self.accessibilityTraits.contains(.button) ? .button : .control
        default: .group
        }
    }

    private var writtenText: String? {
        let text = (self as? UILabel)?.text ?? (self as? UIButton)?.currentTitle
        return text?.isEmpty == true ? nil : text
    }

    private var takenActions: [ViewAction] {
        guard self.takesTouches else { return [] }
        let named = self.accessibilityCustomActions ?? []
        return ((self as? UIControl)?.takesTaps == true ? [.tap] : []) + named.map { .named($0.name) }
    }

    private var takesTouches: Bool {
        self.isUserInteractionEnabled && (self.superview?.takesTouches ?? true)
    }

    fileprivate func front(called name: String, isSpoken: Bool) -> UIView? {
        guard self.isSeen else { return nil }
        for view in self.subviews.reversed() {
            if let found = view.front(called: name, isSpoken: isSpoken && !self.isAccessibilityElement) {
                return found
            }
        }
        return self.node(isSpoken: isSpoken)?.isCalled(name) == true ? self : nil
    }

    // MARK: A person

    /// Returns false if nothing takes it.
    fileprivate func perform(_ action: ViewAction) -> Bool {
        switch action {
        case .tap:
            guard let control = self.touched?.control, control.takesTaps else { return false }
            if !control.accessibilityActivate() { control.touch([]) }
            return true
        case .swipe(let direction):
            guard let view = self.touched else { return false }
            view.touch(Array(repeating: direction.step, count: 6))
            return true
        case .escape:
            var view: UIView? = self
            while let candidate = view, !candidate.accessibilityPerformEscape() { view = candidate.superview }
            return view != nil
        case .named(let name):
            guard self.takesTouches else { return false }
            return self.accessibilityCustomActions?.first { $0.name == name }.map { $0.actionHandler?($0) } == true
        }
    }

    /// Who gets a touch here: the first from here outwards that takes touches with all it is in.
    private var touched: UIView? { self.takesTouches ? self : self.superview?.touched }
    private var control: UIControl? { self as? UIControl ?? self.superview?.control }

    private func touch(_ steps: [CGPoint]) {
        let touch = UITouch(on: self)
        let event = UIEvent(touch)
        self.touchesBegan([touch], with: event)
        for step in steps {
            touch.move(by: step)
            self.touchesMoved([touch], with: event)
        }
        touch.end()
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
