public import Foundation

/// Which keyboard is shown. Raw values as Apple's. https://developer.apple.com/documentation/uikit/uikeyboardtype
public enum UIKeyboardType: Int, Hashable, Sendable {
    case `default`, asciiCapable, numbersAndPunctuation, URL, numberPad, phonePad, namePhonePad, emailAddress,
        decimalPad, twitter, webSearch
}

/// The title of the return key. Raw values as Apple's. https://developer.apple.com/documentation/uikit/uireturnkeytype
public enum UIReturnKeyType: Int, Hashable, Sendable {
    case `default`, go, google, join, next, route, search, send, yahoo, done, emergencyCall, `continue`
}

/// Where capitals come by themselves. Raw values as Apple's. https://developer.apple.com/documentation/uikit/uitextautocapitalizationtype
public enum UITextAutocapitalizationType: Int, Hashable, Sendable {
    case none, words, sentences, allCharacters
}

/// The correction of words. Raw values as Apple's. https://developer.apple.com/documentation/uikit/uitextautocorrectiontype
public enum UITextAutocorrectionType: Int, Hashable, Sendable {
    case `default`, no, yes
}

/// The kind of text typed, for the system's suggestions. https://developer.apple.com/documentation/uikit/uitextcontenttype
public struct UITextContentType: RawRepresentable, Hashable, Sendable {
    /// Apple's text.
    public let rawValue: String
    /// Wraps Apple's text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A name for signing in.
    public static let username = UITextContentType(rawValue: "username")
    /// A password.
    public static let password = UITextContentType(rawValue: "password")
    /// A person's name.
    public static let name = UITextContentType(rawValue: "name")
    /// A name among friends.
    public static let nickname = UITextContentType(rawValue: "nickname")
    /// An address of mail.
    public static let emailAddress = UITextContentType(rawValue: "email")
    /// An address of the web.
    public static let URL = UITextContentType(rawValue: "url")
}

/// Is asked and told what is typed into a field. https://developer.apple.com/documentation/uikit/uitextfielddelegate
@MainActor public protocol UITextFieldDelegate: AnyObject {
    /// Typing begins.
    func textFieldDidBeginEditing(_ textField: UITextField)
    /// Returns true if typing may end.
    func textFieldShouldEndEditing(_ textField: UITextField) -> Bool
    /// Typing has ended.
    func textFieldDidEndEditing(_ textField: UITextField)
    /// Returns true if the typed text may take the place of a range, in UTF-16 units.
    func textField(
        _ textField: UITextField, shouldChangeCharactersIn range: NSRange, replacementString string: String
    ) -> Bool
    /// The return key; true leaves it to the field.
    func textFieldShouldReturn(_ textField: UITextField) -> Bool
}

extension UITextFieldDelegate {
    /// Nothing, unless the delegate has it.
    public func textFieldDidBeginEditing(_ textField: UITextField) {}
    /// Yes, unless the delegate says otherwise.
    public func textFieldShouldEndEditing(_ textField: UITextField) -> Bool { true }
    /// Nothing, unless the delegate has it.
    public func textFieldDidEndEditing(_ textField: UITextField) {}
    /// Yes, unless the delegate says otherwise.
    public func textField(
        _ textField: UITextField, shouldChangeCharactersIn range: NSRange, replacementString string: String
    ) -> Bool { true }
    /// Yes, unless the delegate says otherwise.
    public func textFieldShouldReturn(_ textField: UITextField) -> Bool { true }
}

/// The typing that turns one text into another: the part after their common beginning is replaced.
struct Typing {
    let range: NSRange
    let replacement: String

    init(from old: String, to new: String) {
        let common = zip(old, new).prefix { $0 == $1 }.count
        let kept = old.prefix(common).utf16.count
        self.range = NSRange(location: kept, length: old.utf16.count - kept)
        self.replacement = String(new.dropFirst(common))
    }
}

/// A line to type into. https://developer.apple.com/documentation/uikit/uitextfield
open class UITextField: UIControl {
    /// The frame of a field. Raw values as Apple's.
    public enum BorderStyle: Int, Hashable, Sendable {
        case none, line, bezel, roundedRect
    }

    /// The typed text; empty, not nil, for none.
    open var text: String? = "" { didSet { if self.text == nil { self.text = "" } } }
    /// The text while nothing was typed.
    open var placeholder: String?
    /// How it is written.
    open var font: UIFont? = .preferredFont(forTextStyle: .body)
    /// In what colour.
    open var textColor: UIColor? = .label
    /// How the line is set.
    open var textAlignment = NSTextAlignment.natural
    /// True if the text grows at once when the person changes its size.
    open var adjustsFontForContentSizeCategory = false
    /// The frame of the field.
    open var borderStyle = BorderStyle.none
    /// True if bullets stand for the typed text.
    open var isSecureTextEntry = false
    /// Kept, without effect, as what follows: what the keyboard is like.
    open var keyboardType = UIKeyboardType.default
    /// The title of the return key.
    open var returnKeyType = UIReturnKeyType.default
    /// Where capitals come by themselves.
    open var autocapitalizationType = UITextAutocapitalizationType.sentences
    /// The correction of words.
    open var autocorrectionType = UITextAutocorrectionType.default
    /// The kind of text typed.
    open var textContentType: UITextContentType?
    /// Who is asked and told.
    open weak var delegate: (any UITextFieldDelegate)?
    /// True if it can be typed into.
    open override var canBecomeFirstResponder: Bool { self.isEnabled }

    override var mayEndTyping: Bool { self.delegate?.textFieldShouldEndEditing(self) != false }
    override func didBeginTyping() { self.delegate?.textFieldDidBeginEditing(self) }
    override func didEndTyping() { self.delegate?.textFieldDidEndEditing(self) }

    // MARK: A person

    override var takesTaps: Bool { self.isEnabled }
    override func sendTap() {
        self.becomeFirstResponder()
        super.sendTap()
    }
    override var takesText: Bool { self.isEnabled }

    override func type(_ text: String) -> Bool {
        guard self.becomeFirstResponder() else { return false }
        let typing = Typing(from: self.text ?? "", to: text)
        let isAllowed = self.delegate?.textField(
            self, shouldChangeCharactersIn: typing.range, replacementString: typing.replacement)
        guard isAllowed != false else { return false }
        self.text = text
        self.sendActions(for: .editingChanged)
        return true
    }

    override func pressReturn() -> Bool {
        guard self.becomeFirstResponder() else { return false }
        guard self.delegate?.textFieldShouldReturn(self) != false else { return true }
        let endsTyping = self.hasActions(for: .editingDidEndOnExit)
        self.sendActions(for: [.editingDidEndOnExit, .primaryActionTriggered])
        if endsTyping { self.resignFirstResponder() }
        return true
    }
}

/// Is asked and told what is typed into a text. https://developer.apple.com/documentation/uikit/uitextviewdelegate
@MainActor public protocol UITextViewDelegate: UIScrollViewDelegate {
    /// Typing begins.
    func textViewDidBeginEditing(_ textView: UITextView)
    /// Typing has ended.
    func textViewDidEndEditing(_ textView: UITextView)
    /// Returns true if the typed text may take the place of a range, in UTF-16 units; the return key types a line feed.
    func textView(_ textView: UITextView, shouldChangeTextIn range: NSRange, replacementText text: String) -> Bool
    /// The person has typed something.
    func textViewDidChange(_ textView: UITextView)
    /// Tells that the selection, or the cursor, has moved.
    func textViewDidChangeSelection(_ textView: UITextView)
}

extension UITextViewDelegate {
    /// Nothing, unless the delegate has it.
    public func textViewDidBeginEditing(_ textView: UITextView) {}
    /// Nothing, unless the delegate has it.
    public func textViewDidEndEditing(_ textView: UITextView) {}
    /// Yes, unless the delegate says otherwise.
    public func textView(
        _ textView: UITextView, shouldChangeTextIn range: NSRange, replacementText text: String
    ) -> Bool { true }
    /// Nothing, unless the delegate has it.
    public func textViewDidChange(_ textView: UITextView) {}
    /// Nothing, unless the delegate has it.
    public func textViewDidChangeSelection(_ textView: UITextView) {}
}

/// Lines to type into. https://developer.apple.com/documentation/uikit/uitextview
open class UITextView: UIScrollView {
    /// The text. On Apple's systems it is implicitly unwrapped. Setting it puts the cursor at its end.
    open var text = "" { didSet { self.selectedRange = NSRange(location: self.text.utf16.count, length: 0) } }
    /// The selection, in UTF-16 units: of length 0 for the cursor.
    open var selectedRange = NSRange(location: 0, length: 0) {
        didSet { if oldValue != self.selectedRange { self.delegate?.textViewDidChangeSelection(self) } }
    }
    /// How it is written.
    open var font: UIFont? = .preferredFont(forTextStyle: .body)
    /// In what colour.
    open var textColor: UIColor? = .label
    /// How lines are set.
    open var textAlignment = NSTextAlignment.natural
    /// True if the text grows at once when the person changes its size.
    open var adjustsFontForContentSizeCategory = false
    /// True if it can be typed into.
    open var isEditable = true
    /// Who is asked and told.
    open weak var delegate: (any UITextViewDelegate)? {
        get { self.scrollDelegate as? any UITextViewDelegate }
        set { self.scrollDelegate = newValue }
    }
    /// True if it can be typed into.
    open override var canBecomeFirstResponder: Bool { self.isEditable }

    override func setUp() { self.isAccessibilityElement = true }

    override func didBeginTyping() { self.delegate?.textViewDidBeginEditing(self) }
    override func didEndTyping() { self.delegate?.textViewDidEndEditing(self) }

    // MARK: A person

    override var takesTaps: Bool { self.isEditable }
    override func receiveTap() { self.becomeFirstResponder() }
    override var takesText: Bool { self.isEditable }
    // Typing begins first: an app that shows a hint as text takes it away then.
    override func type(_ text: String) -> Bool {
        guard self.becomeFirstResponder() else { return false }
        let typing = Typing(from: self.text, to: text)
        return self.type(typing.replacement, in: typing.range)
    }
    override func pressReturn() -> Bool {
        guard self.becomeFirstResponder() else { return false }
        return self.type("\n", in: self.selectedRange, isKey: true)
    }

    /// - Parameter isKey: a key was pressed, whatever the delegate makes of it.
    private func type(_ replacement: String, in range: NSRange, isKey: Bool = false) -> Bool {
        let isAllowed = self.delegate?.textView(self, shouldChangeTextIn: range, replacementText: replacement)
        guard isAllowed != false else { return isKey }
        let units = Array(self.text.utf16)
        let end = min(units.count, range.location + range.length)
        let before = units.prefix(range.location) + replacement.utf16
        self.text = String(decoding: before + units[end...], as: UTF16.self)
        self.selectedRange = NSRange(location: before.count, length: 0)
        self.delegate?.textViewDidChange(self)
        return true
    }
}
