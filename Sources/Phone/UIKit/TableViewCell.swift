public import Foundation

/// The view of a row. https://developer.apple.com/documentation/uikit/uitableviewcell
open class UITableViewCell: UIView {
    /// Where texts stand. Raw values as Apple's.
    public enum CellStyle: Int, Hashable, Sendable {
        case `default`, value1, value2, subtitle
    }

    /// The mark at the end of a row. Raw values as Apple's.
    public enum AccessoryType: Int, Hashable, Sendable {
        case none, disclosureIndicator, detailDisclosureButton, checkmark, detailButton
    }

    /// How a chosen row looks. Raw values as Apple's.
    public enum SelectionStyle: Int, Hashable, Sendable {
        case none, blue, gray, `default`
    }

    /// The kind of cell, for its use by another row.
    public let reuseIdentifier: String?
    /// Where the app's views go.
    public let contentView = UIView()
    private let style: CellStyle
    /// The text.
    public private(set) lazy var textLabel: UILabel? = self.added(UILabel())
    /// The second text; nil in the style `default`.
    public private(set) lazy var detailTextLabel: UILabel? = self.style == .default ? nil : self.added(UILabel())
    /// The image at the beginning.
    public private(set) lazy var imageView: UIImageView? = {
        let view = UIImageView()
        self.contentView.insertSubview(view, at: 0)
        return view
    }()
    /// The mark at the end. VoiceOver calls a check mark *selected*.
    open var accessoryType = AccessoryType.none
    /// A view at the end, in the place of the accessory type.
    open var accessoryView: UIView? {
        didSet {
            oldValue?.removeFromSuperview()
            if let view = self.accessoryView { self.addSubview(view) }
        }
    }
    /// How it looks while it is chosen; with `none` it is chosen all the same.
    open var selectionStyle = SelectionStyle.default
    /// True if its row is chosen.
    open var isSelected = false
    /// The view behind the content.
    open var backgroundView: UIView?
    weak var table: UITableView?
    private var swipeButtons: [UIButton] = []

    /// The actions and menu of its row, as the delegate gave them at one count of touches.
    private struct Offer {
        let touches: Int
        let leading: [UIContextualAction]
        let trailing: [UIContextualAction]
        let menu: UIMenu?
    }
    private var lastOffer: Offer?

    /// A cell of a style.
    public init(style: CellStyle, reuseIdentifier: String?) {
        self.style = style
        self.reuseIdentifier = reuseIdentifier
        super.init(frame: .zero)
        self.addSubview(self.contentView)
    }

    /// A cell of the style `default`.
    public override convenience init(frame: CGRect) { self.init(style: .default, reuseIdentifier: nil) }

    /// From an archive, of which a virtual phone has none: always nil.
    public required init?(coder: NSCoder) { return nil }

    /// A cell of a class that only the table's registration names: of the class's own `init(style:reuseIdentifier:)`. Linux only.
    public required convenience init(dequeuedAs reuseIdentifier: String) {
        self.init(style: .default, reuseIdentifier: reuseIdentifier)
    }

    private func added(_ label: UILabel) -> UILabel {
        label.adjustsFontForContentSizeCategory = true
        self.contentView.addSubview(label)
        return label
    }

    /// It will be used by another row. Subclasses call `super`.
    open func prepareForReuse() {
        self.closeSwipe()
        self.forgetOffer()
    }

    // MARK: A person

    override var takesTaps: Bool { self.table?.allowsSelection == true && self.table?.indexPath(for: self) != nil }
    override func receiveTap() {
        self.table?.closeSwipes()
        self.table?.choose(self)
    }
    override var contextMenu: UIMenu? { self.offer?.menu }
    override var swipeActions: [UIContextualAction] { self.offer.map { $0.leading + $0.trailing } ?? [] }

    /// Asked for once, not at each look at the screen, and again at a touch, as on a phone, and after it.
    private var offer: Offer? {
        guard let table = self.table, let touches = self.window?.touches else { return nil }
        if let offer = self.lastOffer, offer.touches == touches { return offer }
        let offer = Offer(
            touches: touches, leading: table.swipeActions(of: self, leading: true),
            trailing: table.swipeActions(of: self, leading: false), menu: table.menu(of: self))
        self.lastOffer = offer
        return offer
    }
    func forgetOffer() { self.lastOffer = nil }

    func perform(_ action: UIContextualAction) { action.handler(action, self) { [weak self] _ in self?.closeSwipe() } }

    /// A finger that goes aside: opens what is there, and closes what is open on the other side.
    func swipe(leading: Bool) -> Bool {
        let actions = (leading ? self.offer?.leading : self.offer?.trailing) ?? []
        let wasOpen = !self.swipeButtons.isEmpty
        self.table?.closeSwipes()
        guard !actions.isEmpty, !wasOpen else { return wasOpen }
        self.swipeButtons = actions.map { action in
            UIButton(action.title, image: action.image) { [weak self] in self?.perform(action) }
        }
        for button in self.swipeButtons { self.addSubview(button) }
        return true
    }

    func closeSwipe() {
        for button in self.swipeButtons { button.removeFromSuperview() }
        self.swipeButtons = []
    }
}

/// The title above, or the note below, a section.
final class TableHeader: UILabel {}
