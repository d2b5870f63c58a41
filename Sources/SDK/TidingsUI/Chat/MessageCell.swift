import Foundation
import TidingsKit
import TidingsModel
public import UIKit

/// The cell of a message: portrait, name, bubble, time and state. What the message says is in `bodyStack`; subclasses for types of the
/// app's own (`InterfaceConfiguration.messageCells`) put their views there.
///
/// ```swift
/// final class PollCell: MessageCell {
///     private let label = MessageCell.label(.body)
///
///     override func makeBody() { self.bodyStack.addArrangedSubview(self.label) }
///     override func show(_ row: MessageRow, in screen: ConversationViewController) {
///         super.show(row, in: screen)
///         self.label.text = Poll(json: row.message?.content)?.question
///     }
/// }
/// ```
open class MessageCell: UITableViewCell {
    /// A portrait's side at the standard text size, in points; it grows with the text.
    private static let portraitPoints: CGFloat = 32
    /// How much of the screen's width a bubble may take.
    private static let bubbleShare: CGFloat = 0.75

    /// The sender's portrait; hidden for own messages and where there is none.
    public let portraitView = UIImageView()
    /// The sender's name; hidden where it is clear.
    public let nameLabel = MessageCell.label(.caption1, .secondaryLabel)
    /// The background of quote and body.
    public let bubbleView = UIView()
    /// The message it answers; hidden for none.
    public let quoteLabel = MessageCell.label(.footnote, .secondaryLabel)
    /// The content of the message.
    public let bodyStack = UIStackView()
    /// When it was sent.
    public let timeLabel = MessageCell.label(.caption2, .secondaryLabel)
    /// The state of the message; hidden for none.
    public let stateLabel = MessageCell.label(.caption2, .secondaryLabel)
    /// Sends it again; hidden unless it was refused.
    public let retryButton = UIButton(type: .system)
    /// The row that the cell shows; nil before the first.
    public private(set) var row: MessageRow?
    private let column = UIStackView()
    private weak var screen: ConversationViewController?

    /// A cell, as a table makes it.
    public override init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
        super.init(style: style, reuseIdentifier: reuseIdentifier)
        self.selectionStyle = .none
        self.arrange()
        self.makeBody()
    }

    /// From a storyboard: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// Puts the views of what the message says into `bodyStack`; called once.
    open func makeBody() {}

    /// Shows a message. Overriding methods call this one first.
    open func show(_ row: MessageRow, in screen: ConversationViewController) {
        self.row = row
        self.screen = screen
        let words = screen.words
        self.nameLabel.text = row.senderName
        self.nameLabel.isHidden = !row.showsSender || screen.conversation.type.targetIsPeer
        self.quoteLabel.text = row.quote.map { "\($0.name): \($0.text)" }
        self.quoteLabel.isHidden = row.quote == nil
        self.timeLabel.text = row.time
        self.stateLabel.text = row.footer(in: words)
        self.stateLabel.isHidden = self.stateLabel.text?.isEmpty ?? true
        self.stateLabel.textColor = row.state?.isFailed == true ? .systemRed : .secondaryLabel
        self.retryButton.setTitle(words.retry, for: .normal)
        self.retryButton.isHidden = row.state?.isFailed != true
        self.portraitView.image = row.isOwn ? nil : screen.interface.knownPortrait(of: row.sender)
        self.portraitView.isHidden = self.portraitView.image == nil
        self.portraitView.alpha = row.showsSender ? 1 : 0
        self.column.alignment = row.isOwn ? .trailing : .leading
        self.bubbleView.backgroundColor =
            row.isOwn ? UIColor.tintColor.withAlphaComponent(0.2) : .secondarySystemBackground
        self.describe(row, words)
    }

    private func describe(_ row: MessageRow, _ words: ChatWords) {
        self.isAccessibilityElement = true
        self.accessibilityIdentifier = "\(row.isOwn ? "outgoing" : "incoming").\(row.name)"
        self.accessibilityLabel = row.spoken(in: words)
        self.accessibilityValue = row.footer(in: words)
        self.accessibilityCustomActions = self.screen?.actions(for: row).map { action in
            UIAccessibilityCustomAction(name: action.title(in: words)) { [weak self] _ in
                guard let screen = self?.screen else { return false }
                screen.perform(action, on: row)
                return true
            }
        }
    }

    private func arrange() {
        self.nameLabel.numberOfLines = 1
        self.quoteLabel.numberOfLines = 2
        self.quoteLabel.accessibilityIdentifier = "quote"
        self.bubbleView.layer.cornerRadius = 14
        self.portraitView.contentMode = .scaleAspectFill
        self.portraitView.clipsToBounds = true
        self.bodyStack.axis = .vertical
        self.retryButton.addAction(
            UIAction { [weak self] _ in
                guard let self, let row = self.row else { return }
                self.screen?.perform(.retry, on: row)
            }, for: .touchUpInside)

        let bubble = UIStackView(arrangedSubviews: [self.quoteLabel, self.bodyStack])
        bubble.axis = .vertical
        bubble.spacing = 4
        let footer = UIStackView(arrangedSubviews: [self.timeLabel, self.stateLabel, self.retryButton])
        footer.spacing = 6
        footer.alignment = .firstBaseline
        for view in [self.nameLabel, self.bubbleView, footer] as [UIView] { self.column.addArrangedSubview(view) }
        self.column.axis = .vertical
        self.column.spacing = 2
        let line = UIStackView(arrangedSubviews: [self.portraitView, self.column])
        line.spacing = 8
        line.alignment = .top
        self.bubbleView.directionalLayoutMargins = NSDirectionalEdgeInsets(top: 8, leading: 12, bottom: 8, trailing: 12)
        Self.fill(self.bubbleView, with: bubble)
        Self.fill(self.contentView, with: line)

        let side = UIFontMetrics(forTextStyle: .body).scaledValue(for: Self.portraitPoints)
        self.portraitView.layer.cornerRadius = side / 2
        NSLayoutConstraint.activate([
            Self.unlessHidden(self.portraitView.widthAnchor.constraint(equalToConstant: side)),
            self.portraitView.heightAnchor.constraint(equalTo: self.portraitView.widthAnchor),
            self.bubbleView.widthAnchor.constraint(
                lessThanOrEqualTo: self.contentView.widthAnchor, multiplier: Self.bubbleShare),
        ])
    }

    /// A stack makes what it hides as narrow as nothing.
    static func unlessHidden(_ width: NSLayoutConstraint) -> NSLayoutConstraint {
        width.priority = UILayoutPriority(999)
        return width
    }

    /// Up to the margins.
    static func fill(_ outer: UIView, with inner: UIView) {
        inner.translatesAutoresizingMaskIntoConstraints = false
        outer.addSubview(inner)
        let margins = outer.layoutMarginsGuide
        NSLayoutConstraint.activate([
            inner.leadingAnchor.constraint(equalTo: margins.leadingAnchor),
            inner.trailingAnchor.constraint(equalTo: margins.trailingAnchor),
            inner.topAnchor.constraint(equalTo: margins.topAnchor),
            inner.bottomAnchor.constraint(equalTo: margins.bottomAnchor),
        ])
    }

    /// A label of as many lines as it needs, whose text grows as the person has set it.
    public static func label(_ style: UIFont.TextStyle, _ colour: UIColor = .label) -> UILabel {
        let label = UILabel()
        label.font = .preferredFont(forTextStyle: style)
        label.adjustsFontForContentSizeCategory = true
        label.textColor = colour
        label.numberOfLines = 0
        return label
    }
}

extension MessageRow {
    /// For tests: the message's id, or the client's.
    var name: String { self.message.map { "\($0.id)" } ?? self.id.outgoing?.rawValue ?? "" }

    /// Where its image is: what a row shows, or what is opened.
    func image(isSmall: Bool) -> MessageImages.Source? {
        if let file { return .file(file) }
        guard case .image(let image) = self.content, let message = self.message else { return nil }
        return .message(message.id, address: isSmall ? image.thumbnailURL ?? image.url : image.url)
    }
}

extension ChatRow.ID {
    var outgoing: ClientMessageID? {
        if case .outgoing(let id) = self { return id }
        return nil
    }
}

/// The cell of a text, and of everything that has no cell of its own.
final class TextMessageCell: MessageCell {
    private let label = MessageCell.label(.body)

    override func makeBody() { self.bodyStack.addArrangedSubview(self.label) }

    override func show(_ row: MessageRow, in screen: ConversationViewController) {
        super.show(row, in: screen)
        self.label.text = row.text
    }
}

/// The cell of an image: what is known of it until it is there, and how far it has been sent.
final class ImageMessageCell: MessageCell {
    private let photoView = UIImageView()
    private let label = MessageCell.label(.footnote, .secondaryLabel)
    private let progress = UIProgressView(progressViewStyle: .default)

    override func makeBody() {
        self.photoView.contentMode = .scaleAspectFill
        self.photoView.clipsToBounds = true
        for view in [self.photoView, self.label, self.progress] as [UIView] { self.bodyStack.addArrangedSubview(view) }
        NSLayoutConstraint.activate([
            Self.unlessHidden(
                self.photoView.widthAnchor.constraint(equalTo: self.contentView.widthAnchor, multiplier: 0.6)),
            self.photoView.heightAnchor.constraint(equalTo: self.photoView.widthAnchor, multiplier: 0.75),
        ])
    }

    override func show(_ row: MessageRow, in screen: ConversationViewController) {
        super.show(row, in: screen)
        self.accessibilityHint = screen.words.opensImage
        self.label.text = screen.words.image
        if case .uploading(let percent) = row.state {
            self.progress.isHidden = false
            self.progress.progress = Float(percent) / 100
        } else {
            self.progress.isHidden = true
        }
        self.show(Self.preview(of: row, screen.interface))
        guard self.photoView.image == nil, let source = row.image(isSmall: true) else { return }
        Task { [weak self, weak screen] in
            let loaded = await screen?.interface.images.load(source)
            guard let self, let screen, self.row?.id == row.id else { return }
            if loaded == nil { self.label.text = screen.words.noImage }
            self.show(loaded)
        }
    }

    private func show(_ image: UIImage?) {
        self.photoView.image = image
        self.photoView.isHidden = image == nil
        self.label.isHidden = image != nil
    }

    private static func preview(of row: MessageRow, _ interface: ChatInterface) -> UIImage? {
        if let known = row.image(isSmall: true).flatMap(interface.images.image(at:)) { return known }
        guard case .image(let image) = row.content else { return nil }
        return image.thumbnail.flatMap { Data(base64Encoded: $0) }
            .flatMap { SmallImages.image(of: $0, pixels: SmallImages.pixels.row) }
    }
}

/// The cell of a day, of the line above unread messages, and of what stands in the place of a recalled message.
final class NoticeCell: UITableViewCell {
    private let label = MessageCell.label(.footnote, .secondaryLabel)
    private let button = UIButton(type: .system)
    private var act: (() -> Void)?

    override init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
        super.init(style: style, reuseIdentifier: reuseIdentifier)
        self.selectionStyle = .none
        self.label.textAlignment = .center
        let column = UIStackView(arrangedSubviews: [self.label, self.button])
        column.axis = .vertical
        column.alignment = .center
        MessageCell.fill(self.contentView, with: column)
        self.button.addAction(UIAction { [weak self] _ in self?.act?() }, for: .touchUpInside)
    }

    required init?(coder: NSCoder) { return nil }

    func show(_ text: String, isHeader: Bool, identifier: String, button: (title: String, act: () -> Void)? = nil) {
        self.label.text = text
        self.label.accessibilityTraits = isHeader ? .header : .staticText
        self.accessibilityIdentifier = identifier
        self.button.setTitle(button?.title, for: .normal)
        self.button.isHidden = button == nil
        self.act = button?.act
    }
}
