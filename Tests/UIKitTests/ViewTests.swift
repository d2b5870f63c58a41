import Foundation
import PhoneCore
import Testing
import TidingsModel
import UIKit
import VirtualPhone

/// A control that says what a finger does to it.
private final class Drag: UIControl {
    var lines: [String] = []
    var isGivenUp = false

    override func beginTracking(_ touch: UITouch, with event: UIEvent?) -> Bool {
        self.lines.append("begins at \(Int(touch.location(in: nil).y))")
        return true
    }
    override func continueTracking(_ touch: UITouch, with event: UIEvent?) -> Bool {
        self.lines.append("is at \(Int(touch.location(in: nil).y))")
        return !self.isGivenUp
    }
    override func endTracking(_ touch: UITouch?, with event: UIEvent?) { self.lines.append("ends") }
    override func accessibilityPerformEscape() -> Bool {
        self.lines.append("escapes")
        return true
    }
}

@MainActor @Suite struct `The views of an app` {
    private let app = OneScreen()

    private func phone(_ views: UIView...) async -> VirtualPhone {
        for view in views { self.app.screen.view.addSubview(view) }
        return await self.app.phone()
    }

    private func label(_ text: String) -> UILabel { .saying(text) }

    @Test func `are a tree of what a person sees and hears, without what only holds others`() async {
        let image = UIImageView(image: UIImage(systemName: "person"))
        image.accessibilityIdentifier = "portrait"
        let symbol = UIImageView(image: UIImage(systemName: "bell.slash"))
        let row = UIStackView(arrangedSubviews: [image, self.label("Alice"), self.label(""), symbol])
        let button = UIButton(type: .system)
        button.setTitle("Send", for: .normal)
        let phone = await self.phone(row, button)
        #expect(
            phone.views() == [
                ViewNode(
                    .window,
                    children: [
                        ViewNode(.image, identifier: "portrait"), ViewNode(.text, text: "Alice", label: "Alice"),
                        ViewNode(.image, identifier: "bell.slash"),
                        ViewNode(.button, text: "Send", label: "Send"),
                    ])
            ])
    }

    @Test func `are spoken as one where the app says so, and keep what is written on them`() async {
        let row = UIStackView(arrangedSubviews: [self.label("Alice"), self.label("9:41")])
        row.isAccessibilityElement = true
        row.accessibilityLabel = "Alice, at 9:41"
        row.accessibilityValue = "2 unread"
        row.accessibilityHint = "Opens the conversation"
        let phone = await self.phone(row)
        #expect(
            phone.views().first?.children == [
                ViewNode(
                    .group, label: "Alice, at 9:41", value: "2 unread", hint: "Opens the conversation",
                    children: [ViewNode(.text, text: "Alice"), ViewNode(.text, text: "9:41")])
            ])
        #expect(phone.views().flatMap(\.texts) == ["Alice", "9:41"])
    }

    @Test func `are not in the tree when they, or what they are in, cannot be seen`() async {
        let (hidden, clear, inside, seen) = (self.label("a"), self.label("b"), self.label("c"), self.label("d"))
        hidden.isHidden = true
        clear.alpha = 0
        let box = UIView()
        box.isHidden = true
        box.addSubview(inside)
        let phone = await self.phone(hidden, clear, box, seen)
        #expect(phone.views().flatMap(\.texts) == ["d"])
        box.isHidden = false
        seen.removeFromSuperview()
        #expect(phone.views().flatMap(\.texts) == ["c"])
        await phone.home()
        #expect(phone.views() == [])
        #expect(await !phone.touch("c"))
    }

    @Test func `are tapped by what is written on them, and the control they are in acts`() async {
        var taps: [String] = []
        let card = UIControl(frame: .zero)
        card.addAction(UIAction { _ in taps.append("card") }, for: .touchUpInside)
        card.addSubview(self.label("Alice"))
        let send = UIButton(type: .system, primaryAction: UIAction(title: "Send") { taps.append("\($0.title)") })
        let phone = await self.phone(card, send, self.label("Title"))
        #expect(phone.views().first?.first("Send")?.actions == [.tap])
        #expect(await phone.touch("Alice"))
        #expect(await phone.touch("Send"))
        #expect(taps == ["card", "Send"])
        #expect(await !phone.touch("Title"), "a text takes no tap")
        #expect(await !phone.touch("Nobody"))
        card.isUserInteractionEnabled = false
        send.isEnabled = false
        #expect(phone.views().first?.first("Send")?.actions == [])
        #expect(await !phone.touch("Alice"))
        #expect(await !phone.touch("Send"))
        #expect(taps == ["card", "Send"])
    }

    @Test func `are touched by a finger, or activated by VoiceOver in a way of their own`() async {
        final class Card: UIControl {
            var activations = 0
            override func accessibilityActivate() -> Bool {
                self.activations += 1
                return self.activations == 1
            }
        }
        var taps = 0
        let card = Card()
        card.accessibilityLabel = "card"
        card.addAction(UIAction { _ in taps += 1 }, for: .touchUpInside)
        let phone = await self.phone(card)
        #expect(await phone.touch("card"))
        #expect((card.activations, taps) == (0, 1), "a finger only touches")
        #expect(await phone.touch("card", .activate))
        #expect((card.activations, taps) == (1, 1))
        #expect(await phone.touch("card", .activate))
        #expect((card.activations, taps) == (2, 2), "what it does not do itself is a touch")
    }

    @Test func `of a control without actions for a finger take no tap`() async {
        let control = UIControl(frame: .zero, primaryAction: UIAction { _ in })
        control.accessibilityLabel = "control"
        let phone = await self.phone(control)
        #expect(phone.views().first?.first("control")?.actions == [], "only some controls send primaryActionTriggered")
        #expect(await !phone.touch("control"))
    }

    @Test func `are taken without a name where the one in front takes the action`() async {
        let phone = await self.phone(UITextField())
        let taken = await phone.inApp {
            let app: UIApplication = .shared
            return [app.perform(.enter("hi")), app.perform(.longPress), app.perform(.escape)]
        }
        #expect(taken == [true, false, false])
        #expect(phone.views().flatMap(\.texts) == ["hi"])
    }

    @Test func `are tapped in the foreground, where two are called the same`() async {
        var taps: [String] = []
        let back = UIButton(type: .system, primaryAction: UIAction(title: "OK") { _ in taps.append("back") })
        let front = UIButton(type: .system, primaryAction: UIAction(title: "OK") { _ in taps.append("front") })
        let phone = await self.phone(back, front)
        await phone.touch("OK")
        self.app.screen.view.addSubview(back)
        await phone.touch("OK")
        #expect(taps == ["front", "back"])
    }

    @Test func `follow a finger until they give it up, and a finger that goes far taps nothing`() async {
        var taps = 0
        let drag = Drag()
        drag.accessibilityLabel = "drag"
        drag.addAction(UIAction { _ in taps += 1 }, for: .touchUpInside)
        let phone = await self.phone(drag)
        #expect(await phone.touch("drag", .swipe(.up)))
        #expect(drag.lines == ["begins at 0"] + [-16, -32, -48, -64, -80, -96].map { "is at \($0)" } + ["ends"])
        #expect(taps == 0)
        drag.lines = []
        drag.isGivenUp = true
        await phone.touch("drag", .swipe(.down))
        #expect(drag.lines == ["begins at 0", "is at 16"])
        #expect(!drag.isTracking)
        await phone.touch("drag")
        #expect(taps == 1)
    }

    @Test func `do what VoiceOver offers by name, and go when it is told to`() async {
        var done: [String] = []
        let drag = Drag()
        drag.accessibilityLabel = "drag"
        drag.accessibilityCustomActions = [
            UIAccessibilityCustomAction(name: "Dismiss") {
                done.append($0.name)
                return true
            }
        ]
        let phone = await self.phone(drag)
        #expect(phone.views().first?.first("drag")?.actions == [.named("Dismiss")])
        #expect(await phone.touch("drag", .named("Dismiss")))
        #expect(await !phone.touch("drag", .named("Archive")))
        #expect(await phone.touch("drag", .escape))
        #expect(done == ["Dismiss"])
        #expect(drag.lines == ["escapes"])
        await phone.inApp { UIAccessibility.post(notification: .announcement, argument: "A message") }
        #expect(phone.reports.contains(.log(app: "com.example.views", level: "voiceover", text: "A message")))
    }
}

@MainActor @Suite struct `A view` {
    private let box = UIView()
    private let inner = UIView()

    @Test func `records its constraints where both items are, until it leaves`() {
        self.box.addSubview(self.inner)
        let top = self.inner.topAnchor.constraint(equalTo: self.box.safeAreaLayoutGuide.topAnchor, constant: 8)
        let width = self.inner.widthAnchor.constraint(equalToConstant: 36)
        NSLayoutConstraint.activate([top, width])
        #expect(self.box.constraints.map(\.constant) == [8])
        #expect(self.inner.constraints.map(\.firstAttribute) == [.width])
        #expect(top.relation == .equal && top.secondAttribute == .top)
        #expect(top.secondItem === self.box.safeAreaLayoutGuide)
        self.inner.removeFromSuperview()
        #expect(self.box.constraints.isEmpty && !top.isActive)
        #expect(width.isActive, "its own length stays")
        width.isActive = false
        #expect(self.inner.constraints.isEmpty)
    }

    @Test func `has an image only of bytes that are one`() {
        let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        #expect(UIImage(data: png) == UIImage(data: png))
        #expect(UIImage(data: Data([0xff, 0xd8, 0xff, 0xe0])) != nil)
        #expect(UIImage(data: Data("RIFF1234WEBPVP8 ".utf8)) != nil)
        #expect(UIImage(data: Data("<svg></svg>".utf8)) == nil)
        #expect(UIImage(data: Data()) == nil)
    }

    @Test func `in a stack has its place there, and leaves it with the stack`() {
        let stack = UIStackView(arrangedSubviews: [self.box, self.inner])
        stack.addArrangedSubview(self.box)
        #expect(stack.arrangedSubviews == [self.inner, self.box])
        #expect(!self.box.translatesAutoresizingMaskIntoConstraints, "the stack places it")
        #expect(stack.subviews == [self.box, self.inner], "back to front is another order")
        self.inner.removeFromSuperview()
        #expect(stack.arrangedSubviews == [self.box])
    }

    @Test func `that is added again to what it is in only moves`() {
        let again = UIView()
        self.box.addSubview(again)
        let edge = again.topAnchor.constraint(equalTo: self.box.topAnchor)
        edge.isActive = true
        self.box.addSubview(self.inner)
        self.box.addSubview(again)
        #expect(self.box.subviews == [self.inner, again])
        #expect(edge.isActive)
    }

    @Test func `hands on what it does not take to its controller, and that to the view around`() {
        final class Screen: UIViewController {
            var escapes = 0
            override func accessibilityPerformEscape() -> Bool {
                self.escapes += 1
                return true
            }
        }
        let screen = Screen()
        let window = UIWindow(frame: .zero)
        window.rootViewController = UINavigationController(rootViewController: screen)
        window.isHidden = false
        screen.view.addSubview(self.box)
        var chain: [UIResponder] = [self.box]
        while let next = chain.last?.next { chain.append(next) }
        #expect(Array(chain[1...2]) == [screen.view, screen])
        #expect(chain[3] === screen.navigationController?.view)
        #expect(chain.last === window)
    }

    @Test func `is laid out once after all that changed, with its controller`() {
        final class Laid: UIView {
            var times = 0
            override func layoutSubviews() { self.times += 1 }
        }
        let laid = Laid()
        self.box.addSubview(laid)
        self.box.layoutIfNeeded()
        laid.setNeedsLayout()
        laid.setNeedsLayout()
        self.box.layoutIfNeeded()
        self.box.layoutIfNeeded()
        #expect(laid.times == 2)
    }

    @Test func `has colours by use, which differ from those by parts`() {
        #expect(UIColor.label != .secondaryLabel)
        #expect(UIColor.systemBackground != .white)
        #expect(UIColor(white: 1, alpha: 1) == .white)
    }

    @Test func `of a control replaces an action of the same name, and forgets one that is taken away`() {
        var done: [Int] = []
        let control = UIControl(frame: .zero, primaryAction: UIAction(identifier: .init("a")) { _ in done.append(1) })
        let second = UIAction(identifier: .init("a")) { _ in done.append(2) }
        control.addAction(second, for: .primaryActionTriggered)
        control.sendActions(for: .primaryActionTriggered)
        control.removeAction(second, for: .primaryActionTriggered)
        control.sendActions(for: .primaryActionTriggered)
        #expect(done == [2])
        control.isEnabled = false
        control.isSelected = true
        #expect(control.state == [.disabled, .selected])
    }
}
