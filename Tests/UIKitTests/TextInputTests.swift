import PhoneCore
import Testing
import UIKit
import VirtualPhone

/// Says what a field asks and tells its delegate.
@MainActor private final class Listener: UITextFieldDelegate, UITextViewDelegate {
    var lines: [String] = []
    var refused: String?
    var placeholder: String?
    var mayEnd = true

    func textFieldShouldEndEditing(_ textField: UITextField) -> Bool { self.mayEnd }

    func textFieldDidBeginEditing(_ textField: UITextField) { self.lines.append("begins") }
    func textFieldDidEndEditing(_ textField: UITextField) { self.lines.append("ends") }
    func textField(
        _ textField: UITextField, shouldChangeCharactersIn range: NSRange, replacementString string: String
    ) -> Bool { self.isAllowed(range, string) }
    func textFieldShouldReturn(_ textField: UITextField) -> Bool {
        self.lines.append("return")
        return self.refused != "return"
    }

    func textViewDidBeginEditing(_ textView: UITextView) {
        self.lines.append("begins")
        if textView.text == self.placeholder { textView.text = "" }
    }
    func textViewDidEndEditing(_ textView: UITextView) { self.lines.append("ends") }
    func textView(_ textView: UITextView, shouldChangeTextIn range: NSRange, replacementText text: String) -> Bool {
        self.isAllowed(range, text)
    }
    func textViewDidChange(_ textView: UITextView) { self.lines.append("changed to \(textView.text)") }
    func textViewDidChangeSelection(_ textView: UITextView) {
        self.lines.append("at \(textView.selectedRange.location)")
    }

    private func isAllowed(_ range: NSRange, _ text: String) -> Bool {
        self.lines.append("\(range.location)+\(range.length): \(text.debugDescription)")
        return text != self.refused
    }
}

@MainActor @Suite struct `Typing` {
    private let app = OneScreen()
    private let listener = Listener()

    private func phone(_ views: UIView...) async -> VirtualPhone {
        for view in views { self.app.screen.view.addSubview(view) }
        return await self.app.phone()
    }

    private func field() -> UITextField {
        let field = UITextField()
        field.placeholder = "Name"
        field.delegate = self.listener
        field.addAction(
            UIAction { [listener] in listener.lines.append("now \(($0.sender as? UITextField)?.text ?? "")") },
            for: .editingChanged)
        return field
    }

    private func view() -> UITextView {
        let view = UITextView()
        view.accessibilityLabel = "Message"
        view.delegate = self.listener
        return view
    }

    @Test func `into a field begins with a tap, changes what is behind the common beginning, and ends elsewhere`() async
    {
        let other = UITextField()
        other.accessibilityLabel = "Other"
        let phone = await self.phone(self.field(), other)
        #expect(phone.view("Name")?.actions == [.tap, .enter(""), .submit])
        #expect(await phone.touch("Name"))
        #expect(await phone.touch("Name", .enter("Bob")))
        #expect(await phone.touch("Name", .enter("Bert")))
        #expect(await phone.touch("Other"))
        #expect(
            self.listener.lines == ["begins", "0+0: \"Bob\"", "now Bob", "1+2: \"ert\"", "now Bert", "ends"])
        #expect(other.isFirstResponder)
    }

    @Test func `is what is written on the field, whose hint is there until then`() async {
        let phone = await self.phone(self.field())
        #expect(
            phone.view("Name")
                == ViewNode(
                    .textField, label: "Name", hint: "Name", actions: [.tap, .enter(""), .submit]))
        await phone.touch("Name", .enter("Bob"))
        #expect(
            phone.view("Name")
                == ViewNode(.textField, text: "Bob", label: "Name", actions: [.tap, .enter(""), .submit]))
    }

    @Test func `of a password shows bullets`() async {
        let field = self.field()
        field.isSecureTextEntry = true
        let phone = await self.phone(field)
        await phone.touch("Name", .enter("geheim"))
        #expect(phone.view("Name")?.text == "••••••")
        #expect(field.text == "geheim")
    }

    @Test func `changes nothing that the delegate refuses, or that is off`() async {
        let field = self.field()
        self.listener.refused = "no"
        let phone = await self.phone(field)
        #expect(await !phone.touch("Name", .enter("no")))
        #expect(field.text?.isEmpty == true)
        field.isEnabled = false
        #expect(phone.view("Name")?.actions == [])
        #expect(await !phone.touch("Name", .enter("yes")))
        #expect(field.text?.isEmpty == true)
    }

    @Test func `the return key asks the delegate, does what the field is for, and may end it`() async {
        let field = self.field()
        field.addAction(UIAction { [listener] _ in listener.lines.append("go") }, for: .primaryActionTriggered)
        let phone = await self.phone(field)
        #expect(await phone.touch("Name", .submit))
        #expect(self.listener.lines == ["begins", "return", "go"])
        #expect(field.isFirstResponder, "it stays, as on a phone, unless somebody ends it")
        field.addAction(UIAction { _ in }, for: .editingDidEndOnExit)
        await phone.touch("Name", .submit)
        #expect(!field.isFirstResponder)
        self.listener.lines = []
        self.listener.refused = "return"
        await phone.touch("Name", .submit)
        #expect(self.listener.lines == ["begins", "return"])
    }

    @Test func `into a text tells where one types, and the return key is a line feed`() async {
        let view = self.view()
        let phone = await self.phone(view)
        #expect(await phone.touch("Message", .enter("Hi @")))
        #expect(self.listener.lines == ["begins", "0+0: \"Hi @\"", "at 4", "changed to Hi @"])
        self.listener.lines = []
        #expect(await phone.touch("Message", .submit))
        #expect(self.listener.lines == ["4+0: \"\\n\"", "at 5", "changed to Hi @\n"])
        self.listener.refused = "\n"
        #expect(await phone.touch("Message", .submit), "the key was pressed")
        #expect(view.text == "Hi @\n")
        #expect(phone.view("Message")?.role == .textField)
        view.isEditable = false
        #expect(await !phone.touch("Message", .enter("")))
    }

    @Test func `into a text view whose text is a hint finds it taken away when typing begins`() async {
        self.listener.placeholder = "Write a message"
        let (view, other) = (self.view(), self.view())
        other.accessibilityLabel = "Other"
        for view in [view, other] { view.text = "Write a message" }
        let phone = await self.phone(view, other)
        self.listener.lines = []
        await phone.touch("Message", .enter("Why"))
        #expect(
            self.listener.lines == ["begins", "at 0", "0+0: \"Why\"", "at 3", "changed to Why"])
        await phone.touch("Other", .submit)
        #expect(other.text == "\n")
    }

    @Test func `counts UTF-16 units, and types where the cursor is`() async {
        let view = self.view()
        let phone = await self.phone(view)
        await phone.touch("Message", .enter("😀 你好"))
        await phone.touch("Message", .enter("😀 你们"))
        #expect(self.listener.lines.contains("4+1: \"们\""))
        view.selectedRange = NSRange(location: 2, length: 1)
        await phone.touch("Message", .submit)
        #expect(view.text == "😀\n你们")
        #expect(view.selectedRange == NSRange(location: 3, length: 0))
    }

    @Test func `by the app is told to nobody, and puts the cursor at the end`() async {
        let (field, view) = (self.field(), self.view())
        _ = await self.phone(field, view)
        field.text = nil
        view.text = "draft"
        #expect(self.listener.lines == ["at 5"])
        #expect(field.text?.isEmpty == true)
    }

    @Test func `ends by force though the delegate refuses, and it is told`() async {
        let field = self.field()
        let phone = await self.phone(field)
        self.listener.mayEnd = false
        await phone.touch("Name")
        #expect(!self.app.screen.view.endEditing(false) && field.isFirstResponder)
        #expect(self.app.screen.view.endEditing(true) && !field.isFirstResponder)
        await phone.touch("Name")
        field.removeFromSuperview()
        #expect(self.app.window?.endEditing(false) == true)
        #expect(self.listener.lines == ["begins", "ends", "begins", "ends"])
    }

    @Test func `ends with what it is in: the app ends it, or the view goes`() async {
        let (field, box) = (self.field(), UIView())
        box.addSubview(field)
        let phone = await self.phone(box)
        await phone.touch("Name")
        #expect(box.endEditing(false))
        #expect(self.listener.lines == ["begins", "ends"])
        await phone.touch("Name")
        box.removeFromSuperview()
        #expect(self.listener.lines == ["begins", "ends", "begins", "ends"])
        #expect(!field.becomeFirstResponder(), "there is no window to type in")
    }
}
