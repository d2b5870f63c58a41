public import Foundation
public import TidingsKit
public import TidingsModel
public import UIKit

/// Where a message is typed: what it answers, names to mention, plug-ins, the text and *Send*.
open class InputBar: UIView, UITextViewDelegate {
    /// Opens what the plug-ins offer; hidden without any.
    public let moreButton = UIButton(type: .system)
    /// Where the text is typed.
    public let textView = UITextView()
    /// Sends it.
    public let sendButton = UIButton(type: .system)
    /// Called with what is typed when the person sends it.
    public var onSend: ((String) -> Void)?
    /// Called when the text changes.
    public var onChange: ((String) -> Void)?
    /// Called when the person leaves the field.
    public var onEndEditing: (() -> Void)?
    /// Called when the person answers or changes no message any more.
    public var onCancelContext: (() -> Void)?
    /// Who can be mentioned; empty where nobody can.
    public var candidates: [MentionCompletion.Candidate] = [] {
        didSet {
            self.recognizeNames()
            self.showCompletions()
        }
    }
    /// Who was chosen to be mentioned since the text was empty, or is named in a text that was set.
    public private(set) var chosen: [MentionCompletion.Candidate] = []

    /// The text that was set last.
    private var given = ""
    private let words: ChatWords
    private let prompt = MessageCell.label(.body, .secondaryLabel)
    private let contextLabel = MessageCell.label(.footnote, .secondaryLabel)
    private let contextButton = UIButton(type: .system)
    private let notice = MessageCell.label(.footnote, .secondaryLabel)
    private let context: UIStackView
    private let completions = UIStackView()
    private let line: UIStackView
    private lazy var tallest = self.textView.heightAnchor.constraint(
        equalTo: self.widthAnchor, multiplier: Self.tallestShare)
    /// The greatest height as a share of the width: some eight lines.
    private static let tallestShare: CGFloat = 0.45

    /// A bar that speaks some words.
    public init(words: ChatWords) {
        self.words = words
        self.context = UIStackView(arrangedSubviews: [self.contextLabel, self.contextButton])
        self.line = UIStackView(arrangedSubviews: [self.moreButton, self.textView, self.sendButton])
        super.init(frame: .zero)
        self.arrange()
        self.name()
        self.update()
    }

    /// From a storyboard: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// The typed text. Setting it puts the caret at the end and does not call `onChange`.
    public var text: String {
        get { self.textView.text }
        set {
            self.textView.text = newValue
            self.textView.selectedRange = NSRange(location: newValue.utf16.count, length: 0)
            if newValue.isEmpty { self.chosen = [] }
            self.given = newValue
            self.recognizeNames()
            self.update()
        }
    }

    /// A draft says only in words whom it mentions. Of two people of one name it is the first.
    private func recognizeNames() {
        for candidate in MentionCompletion.named(in: self.given, among: self.candidates)
        where !self.chosen.contains(where: { $0.name == candidate.name }) { self.chosen.append(candidate) }
    }

    /// Whom the text mentions.
    public var mentions: Mentions { MentionCompletion.mentions(in: self.text, chosen: self.chosen) }

    /// Shows above the field the message that is answered or changed; nil hides it.
    public func show(context: String?) {
        self.contextLabel.text = context
        self.context.isHidden = context == nil
    }

    /// In the place of the field where the person may not write; nil where they may.
    public func show(notice: String?) {
        self.notice.text = notice
        self.notice.isHidden = notice == nil
        self.line.isHidden = notice != nil
        self.showPrompt()
        if notice != nil { self.textView.resignFirstResponder() }
    }

    private func arrange() {
        self.backgroundColor = .systemBackground
        self.textView.font = .preferredFont(forTextStyle: .body)
        self.textView.adjustsFontForContentSizeCategory = true
        self.textView.isScrollEnabled = false
        self.textView.backgroundColor = .clear
        self.textView.delegate = self
        self.line.alignment = .bottom
        self.line.spacing = 8
        self.context.spacing = 8
        self.completions.axis = .vertical
        self.completions.alignment = .leading
        let column = UIStackView(arrangedSubviews: [self.completions, self.context, self.notice, self.line])
        column.axis = .vertical
        column.spacing = 4
        MessageCell.fill(self, with: column)
        self.prompt.translatesAutoresizingMaskIntoConstraints = false
        self.insertSubview(self.prompt, at: 0)
        NSLayoutConstraint.activate([
            self.prompt.leadingAnchor.constraint(equalTo: self.textView.leadingAnchor, constant: 5),
            self.prompt.topAnchor.constraint(equalTo: self.textView.topAnchor, constant: 8),
        ])
        self.moreButton.setContentHuggingPriority(.required, for: .horizontal)
        self.sendButton.setContentHuggingPriority(.required, for: .horizontal)
        self.contextButton.setContentHuggingPriority(.required, for: .horizontal)
        self.show(context: nil)
        self.show(notice: nil)
    }

    private func name() {
        self.textView.accessibilityLabel = self.words.message
        self.textView.accessibilityIdentifier = "tidings.input"
        self.prompt.text = self.words.message
        self.prompt.isAccessibilityElement = false
        self.moreButton.setImage(UIImage(systemName: "plus"), for: .normal)
        self.moreButton.accessibilityLabel = self.words.more
        self.sendButton.setTitle(self.words.send, for: .normal)
        self.contextButton.setTitle(self.words.cancel, for: .normal)
        self.notice.textAlignment = .center
        self.sendButton.addAction(
            UIAction { [weak self] _ in
                guard let self, self.hasText else { return }
                self.onSend?(self.text)
            }, for: .touchUpInside)
        self.contextButton.addAction(UIAction { [weak self] _ in self?.onCancelContext?() }, for: .touchUpInside)
    }

    private var hasText: Bool { self.text.contains { !$0.isWhitespace } }

    private func showPrompt() { self.prompt.isHidden = self.line.isHidden || !self.text.isEmpty }

    private func update() {
        self.showPrompt()
        self.sendButton.isEnabled = self.hasText
        // A text view that does not scroll is as tall as its text.
        let isLong = self.text.utf16.count > 320 || self.text.filter(\.isNewline).count >= 8
        self.textView.isScrollEnabled = isLong
        self.tallest.isActive = isLong
        self.showCompletions()
    }

    // MARK: What the text view tells

    /// The text has changed.
    open func textViewDidChange(_ textView: UITextView) {
        if self.text.isEmpty { (self.chosen, self.given) = ([], "") }
        self.update()
        self.onChange?(self.text)
    }

    /// The caret has moved.
    open func textViewDidChangeSelection(_ textView: UITextView) { self.showCompletions() }

    /// The person has left the field.
    open func textViewDidEndEditing(_ textView: UITextView) { self.onEndEditing?() }

    // MARK: Mentions

    /// Begins to mention a person, as typing `@` and choosing them does.
    public func mention(_ candidate: MentionCompletion.Candidate) {
        self.complete(NSRange(location: self.text.utf16.count, length: 0), with: candidate)
    }

    private func showCompletions() {
        for view in self.completions.arrangedSubviews { view.removeFromSuperview() }
        let typed =
            self.candidates.isEmpty
            ? nil : MentionCompletion.query(in: self.text, caret: self.textView.selectedRange.location)
        let found = typed.map { MentionCompletion.candidates(for: $0.name, among: self.candidates) } ?? []
        self.completions.isHidden = found.isEmpty
        guard let range = typed?.range else { return }
        for candidate in found {
            let action = UIAction(title: "@\(candidate.name)") { [weak self] _ in self?.complete(range, with: candidate)
            }
            self.completions.addArrangedSubview(UIButton(type: .system, primaryAction: action))
        }
    }

    private func complete(_ range: NSRange, with candidate: MentionCompletion.Candidate) {
        let (text, caret) = MentionCompletion.completed(self.text, range, with: candidate)
        if !self.chosen.contains(candidate) { self.chosen.append(candidate) }
        self.textView.text = text
        self.textView.selectedRange = NSRange(location: caret, length: 0)
        self.update()
        self.onChange?(text)
    }
}
