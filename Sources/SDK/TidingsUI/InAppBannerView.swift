public import ClientCore
public import Foundation
public import UIKit

/// An in-app banner, ready to be seen: portrait, title, subtitle and text of a message for another screen (S4.6).
///
/// Fonts follow the text size that the person has set, colours the appearance, and VoiceOver reads the banner as one. A tap opens it; a swipe
/// up, and VoiceOver's actions *Dismiss* and escape, take it away. `InAppBannerPresenter` shows it; an app that places it itself sets `onOpen`
/// and `onDismiss`. Subclasses may change colours and labels.
@MainActor open class InAppBannerView: UIControl {
    /// How far a finger goes up until that is a swipe, in points.
    public static let swipePoints: CGFloat = 20
    /// A portrait's side at the standard text size, in points; it grows with the text.
    private static let portraitPoints: CGFloat = 36

    /// The banner that the view shows.
    public let banner: InAppBanner
    /// The portrait; hidden where there is none.
    public let portraitView = UIImageView()
    /// The title: who, or which group.
    public let titleLabel = UILabel()
    /// The subtitle; hidden where there is none.
    public let subtitleLabel = UILabel()
    /// The text of the message, in two lines at most.
    public let textLabel = UILabel()
    /// Called for each tap.
    public var onOpen: (() -> Void)?
    /// Called when the person wants it away.
    public var onDismiss: (() -> Void)?
    private var touchedAt: CGPoint?

    /// A view of a banner.
    ///
    /// - Parameters:
    ///   - banner: what it shows.
    ///   - portrait: an image as JPEG or PNG (`NotificationIntegration.portrait(of:)`); what is no image is left out.
    ///   - words: what VoiceOver says beside the message.
    public init(_ banner: InAppBanner, portrait: Data?, words: InterfaceWords) {
        self.banner = banner
        super.init(frame: .zero)
        self.fill(portrait)
        self.arrange()
        self.describe(words)
        self.addAction(UIAction { [weak self] _ in self?.onOpen?() }, for: .touchUpInside)
    }

    /// From a storyboard, which has no banner: always nil.
    public required init?(coder: NSCoder) { return nil }

    private func fill(_ portrait: Data?) {
        let text = self.banner.text
        Self.set(text.title, on: self.titleLabel, .headline, lines: 1)
        Self.set(text.subtitle, on: self.subtitleLabel, .subheadline, lines: 1)
        Self.set(text.body, on: self.textLabel, .subheadline, lines: 2)
        self.portraitView.image = portrait.flatMap { UIImage(data: $0) }
        self.portraitView.isHidden = self.portraitView.image == nil
        self.portraitView.contentMode = .scaleAspectFill
        self.portraitView.clipsToBounds = true
        self.backgroundColor = .secondarySystemBackground
        self.layer.cornerRadius = 14
    }

    private static func set(_ text: String, on label: UILabel, _ style: UIFont.TextStyle, lines: Int) {
        label.text = text
        label.isHidden = text.isEmpty
        label.font = .preferredFont(forTextStyle: style)
        label.adjustsFontForContentSizeCategory = true
        label.textColor = .label
        label.numberOfLines = lines
    }

    private func arrange() {
        let texts = UIStackView(arrangedSubviews: [self.titleLabel, self.subtitleLabel, self.textLabel])
        texts.axis = .vertical
        let row = UIStackView(arrangedSubviews: [self.portraitView, texts])
        row.alignment = .center
        row.spacing = 10
        // Touches are the banner's own.
        row.isUserInteractionEnabled = false
        self.directionalLayoutMargins = NSDirectionalEdgeInsets(top: 12, leading: 14, bottom: 12, trailing: 14)
        MessageCell.fill(self, with: row)
        let side = UIFontMetrics(forTextStyle: .headline).scaledValue(for: Self.portraitPoints)
        self.portraitView.layer.cornerRadius = side / 2
        NSLayoutConstraint.activate([
            MessageCell.unlessHidden(self.portraitView.widthAnchor.constraint(equalToConstant: side)),
            self.portraitView.heightAnchor.constraint(equalTo: self.portraitView.widthAnchor),
        ])
    }

    private func describe(_ words: InterfaceWords) {
        let text = self.banner.text
        self.isAccessibilityElement = true
        self.accessibilityTraits = .button
        self.accessibilityIdentifier = "tidings.banner"
        self.accessibilityLabel = [text.title, text.subtitle, text.body].filter { !$0.isEmpty }.joined(separator: ", ")
        self.accessibilityHint = words.opensConversation
        self.accessibilityCustomActions = [
            UIAccessibilityCustomAction(name: words.dismiss) { [weak self] _ in
                self?.leave() == true
            }
        ]
    }

    /// VoiceOver's escape takes the banner away; false where nobody does.
    open override func accessibilityPerformEscape() -> Bool {
        self.leave()
    }

    /// Returns false if nobody takes it away.
    private func leave() -> Bool {
        guard let onDismiss = self.onDismiss else { return false }
        onDismiss()
        return true
    }

    // MARK: A swipe. A gesture recognizer would need a target with a selector, which only Apple's compiler sees.

    /// Remembers where the finger began.
    open override func beginTracking(_ touch: UITouch, with event: UIEvent?) -> Bool {
        self.touchedAt = touch.location(in: nil)
        return super.beginTracking(touch, with: event)
    }

    /// A finger that went up takes the banner away, and opens nothing.
    open override func continueTracking(_ touch: UITouch, with event: UIEvent?) -> Bool {
        if let start = self.touchedAt, start.y - touch.location(in: nil).y >= Self.swipePoints {
            self.onDismiss?()
            return false
        }
        return super.continueTracking(touch, with: event)
    }
}
