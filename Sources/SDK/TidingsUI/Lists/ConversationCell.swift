public import UIKit

/// A row of the list of conversations: portrait, title and time, the newest message and how many are unread.
///
/// VoiceOver reads it as one. A subclass that shows more sets `ConversationListViewController.cellClass` and overrides `configure`.
@MainActor open class ConversationCell: UITableViewCell {
    /// A portrait's side at the standard text size, in points; it grows with the text.
    private static let portraitPoints: CGFloat = 44

    /// The portrait, or a symbol where there is none; hidden where the app shows no portraits.
    public let portraitView = UIImageView()
    /// The title of the conversation.
    public let titleLabel = UILabel()
    /// When the newest message came.
    public let timeLabel = UILabel()
    /// The draft or the newest message.
    public let summaryLabel = UILabel()
    /// How many messages are unread; hidden for none.
    public let badgeLabel = UILabel()
    /// A bell, crossed out, where nothing rings.
    public let mutedView = UIImageView()
    private let badgeView = UIView()

    /// A cell of the style that the table asks for; it has views of its own.
    public override init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
        super.init(style: .default, reuseIdentifier: reuseIdentifier)
        self.prepare()
        self.arrange()
    }

    /// From a storyboard: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// Shows a row.
    ///
    /// - Parameters:
    ///   - row: what it says.
    ///   - portrait: the image; nil shows a symbol for people or groups.
    ///   - showsPortrait: whether the app shows portraits.
    ///   - words: what VoiceOver says beside names and messages.
    open func configure(_ row: ConversationRow, portrait: UIImage?, showsPortrait: Bool, words: InterfaceWords) {
        self.titleLabel.text = row.title
        self.timeLabel.text = row.time
        self.summaryLabel.text = [row.mark, row.summary].compactMap { $0 }.joined(separator: " ")
        self.badgeLabel.text = row.badge
        self.badgeView.isHidden = row.badge == nil
        self.badgeView.backgroundColor = row.isMuted ? .systemGray : .systemRed
        self.mutedView.isHidden = !row.isMuted
        self.portraitView.isHidden = !showsPortrait
        self.portraitView.image = portrait ?? UIImage(systemName: row.isOfGroup ? "person.2.circle" : "person.circle")
        self.backgroundColor = row.isPinned ? .secondarySystemBackground : .systemBackground
        self.accessibilityLabel = row.spoken
        self.accessibilityHint = words.opensConversation
    }

    private func prepare() {
        let texts: [(UILabel, UIFont.TextStyle, UIColor)] = [
            (self.titleLabel, .headline, .label), (self.timeLabel, .footnote, .secondaryLabel),
            (self.summaryLabel, .subheadline, .secondaryLabel), (self.badgeLabel, .footnote, .systemBackground),
        ]
        for (label, style, colour) in texts {
            label.font = .preferredFont(forTextStyle: style)
            label.adjustsFontForContentSizeCategory = true
            label.textColor = colour
        }
        for label in [self.timeLabel, self.badgeLabel] {
            label.setContentHuggingPriority(.required, for: .horizontal)
            label.setContentCompressionResistancePriority(.required, for: .horizontal)
        }
        self.portraitView.contentMode = .scaleAspectFill
        self.portraitView.clipsToBounds = true
        self.portraitView.tintColor = .systemGray
        self.mutedView.image = UIImage(systemName: "bell.slash")
        self.mutedView.tintColor = .systemGray
        self.mutedView.setContentHuggingPriority(.required, for: .horizontal)
        self.isAccessibilityElement = true
        self.accessibilityTraits = .button
    }

    private func arrange() {
        let upper = UIStackView(arrangedSubviews: [self.titleLabel, self.timeLabel])
        let lower = UIStackView(arrangedSubviews: [self.summaryLabel, self.mutedView, self.badgeView])
        for line in [upper, lower] {
            line.alignment = .center
            line.spacing = 8
        }
        let texts = UIStackView(arrangedSubviews: [upper, lower])
        texts.axis = .vertical
        texts.spacing = 4
        let row = UIStackView(arrangedSubviews: [self.portraitView, texts])
        row.alignment = .center
        row.spacing = 12
        MessageCell.fill(self.contentView, with: row)
        self.badgeLabel.translatesAutoresizingMaskIntoConstraints = false
        self.badgeView.directionalLayoutMargins = NSDirectionalEdgeInsets(top: 2, leading: 7, bottom: 2, trailing: 7)
        self.badgeView.addSubview(self.badgeLabel)
        self.badgeView.layer.cornerRadius = UIFontMetrics(forTextStyle: .footnote).scaledValue(for: 10)
        let side = UIFontMetrics(forTextStyle: .headline).scaledValue(for: Self.portraitPoints)
        self.portraitView.layer.cornerRadius = side / 2
        let margins = self.badgeView.layoutMarginsGuide
        NSLayoutConstraint.activate([
            self.badgeLabel.leadingAnchor.constraint(equalTo: margins.leadingAnchor),
            MessageCell.unlessHidden(self.badgeLabel.trailingAnchor.constraint(equalTo: margins.trailingAnchor)),
            self.badgeLabel.topAnchor.constraint(equalTo: margins.topAnchor),
            self.badgeLabel.bottomAnchor.constraint(equalTo: margins.bottomAnchor),
            MessageCell.unlessHidden(self.portraitView.widthAnchor.constraint(equalToConstant: side)),
            self.portraitView.heightAnchor.constraint(equalTo: self.portraitView.widthAnchor),
        ])
    }
}
