import Testing
import TidingsModel

@testable import PhoneCore

@Suite struct `A view as a value` {
    private let tree = ViewNode(
        .window,
        children: [
            ViewNode(
                .button, label: "Bob, hi", value: "new", hint: "Opens", identifier: "banner", isSelected: true,
                actions: [.tap, .named("Dismiss"), .swipe(.up), .escape],
                children: [ViewNode(.image), ViewNode(.text, text: "Bob"), ViewNode(.text, text: "hi")]),
            ViewNode(.text, text: "Bob", label: "Bob"),
        ])

    @Test func `has a JSON form that is read back`() throws {
        let bytes = self.tree.json
        #expect(try ViewNode(json: bytes) == self.tree)
        let plain: [ViewAction] = [
            .tap, .activate, .longPress, .submit, .escape, .enter("hi"), .enter(""), .named("Dismiss"),
        ]
        for action in plain + ViewAction.Direction.allCases.flatMap({ [.swipe($0), .scroll($0)] }) {
            #expect(try ViewAction(json: action.json) == action)
        }
        #expect(ViewAction.longPress.json["type"]?.stringValue == "long_press")
        #expect(ViewAction.enter("hi").json["text"]?.stringValue == "hi")
    }

    @Test func `is found by what is written, spoken or named, the one in the foreground first`() {
        #expect(self.tree.first("Bob, hi")?.identifier == "banner")
        #expect(self.tree.first("banner")?.label == "Bob, hi")
        #expect(self.tree.first("Bob")?.label == "Bob", "the text in front")
        #expect(self.tree.first("hi")?.role == .text)
        #expect(self.tree.first("Carol") == nil)
        #expect(self.tree.first("") == nil)
    }

    @Test func `tells all that is written, back to front`() { #expect(self.tree.texts == ["Bob", "hi", "Bob"]) }
}
