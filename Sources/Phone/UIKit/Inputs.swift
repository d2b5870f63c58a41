public import Foundation

/// A switch that is on or off. https://developer.apple.com/documentation/uikit/uiswitch
open class UISwitch: UIControl {
    /// True if it is on.
    open var isOn = false
    /// Sets it, without telling anybody.
    open func setOn(_ on: Bool, animated: Bool) { self.isOn = on }
    /// "1" or "0", as Apple's, unless the app sets it.
    open override var accessibilityValue: String? {
        get { super.accessibilityValue ?? (self.isOn ? "1" : "0") }
        set { super.accessibilityValue = newValue }
    }
    override var takesTaps: Bool { self.isEnabled }
    override func sendTap() {
        self.isOn.toggle()
        self.sendActions(for: [.touchUpInside, .valueChanged, .primaryActionTriggered])
    }
}

/// Shows that something is going on. https://developer.apple.com/documentation/uikit/uiactivityindicatorview
open class UIActivityIndicatorView: UIView {
    /// How large it is. Raw values as Apple's.
    public enum Style: Int, Hashable, Sendable {
        case medium = 100
        case large = 101
    }

    /// How large it is.
    open var style: Style
    /// True if it is seen only while it is animated.
    open var hidesWhenStopped = true { didSet { self.isHidden = self.hidesWhenStopped && !self.isAnimating } }
    /// True while something is going on.
    public private(set) var isAnimating = false

    /// An indicator that stands still.
    public init(style: Style) {
        self.style = style
        super.init(frame: .zero)
        self.isAccessibilityElement = true
        self.accessibilityLabel = "In progress"
        self.isHidden = true
    }

    /// An indicator of the style `medium`.
    public override convenience init(frame: CGRect) { self.init(style: .medium) }

    /// From an archive, of which a virtual phone has none: a still one, as Apple's cannot fail.
    public required init(coder: NSCoder) {
        self.style = .medium
        super.init(frame: .zero)
    }

    /// Something is going on.
    open func startAnimating() {
        self.isAnimating = true
        self.isHidden = false
    }
    /// It is over.
    open func stopAnimating() {
        self.isAnimating = false
        self.isHidden = self.hidesWhenStopped
    }
}

/// Shows how far something is. https://developer.apple.com/documentation/uikit/uiprogressview
open class UIProgressView: UIView {
    /// How it looks. Raw values as Apple's.
    public enum Style: Int, Hashable, Sendable {
        case `default`, bar
    }

    /// From 0 to 1.
    open var progress: Float = 0 { didSet { self.progress = min(max(0, self.progress), 1) } }
    /// In percent, unless the app sets it.
    open override var accessibilityValue: String? {
        get { super.accessibilityValue ?? "\(Int((self.progress * 100).rounded()))%" }
        set { super.accessibilityValue = newValue }
    }

    override func setUp() {
        self.isAccessibilityElement = true
        self.accessibilityLabel = "Progress"
    }

    /// A bar of a style.
    public convenience init(progressViewStyle style: Style) { self.init(frame: .zero) }
}

/// How a picker of dates looks. Raw values as Apple's.
public enum UIDatePickerStyle: Int, Hashable, Sendable {
    case automatic, wheels, compact, inline
}

/// Sets a time of the day. https://developer.apple.com/documentation/uikit/uidatepicker
open class UIDatePicker: UIControl {
    /// The kind of value that is set. Raw values as Apple's. On a virtual phone a person sets times only.
    public enum Mode: Int, Hashable, Sendable {
        case time, date, dateAndTime, countDownTimer
    }

    /// The kind of value that is set.
    open var datePickerMode = Mode.dateAndTime
    /// The chosen date.
    open var date = Date()
    /// How it looks; kept, without effect.
    open var preferredDatePickerStyle = UIDatePickerStyle.automatic
    /// How days are counted. On Apple's systems it is implicitly unwrapped.
    open var calendar = Calendar.current
    /// Where the time is meant; nil for the calendar's zone.
    open var timeZone: TimeZone?

    private var ownCalendar: Calendar {
        var calendar = self.calendar
        if let zone = self.timeZone { calendar.timeZone = zone }
        return calendar
    }

    /// The time as `22:00`, unless the app sets it.
    open override var accessibilityValue: String? {
        get {
            if let own = super.accessibilityValue { return own }
            let parts = self.ownCalendar.dateComponents([.hour, .minute], from: self.date)
            return [parts.hour, parts.minute].map { ($0 ?? 0) < 10 ? "0\($0 ?? 0)" : "\($0 ?? 0)" }
                .joined(separator: ":")
        }
        set { super.accessibilityValue = newValue }
    }

    override var takesText: Bool { self.isEnabled && self.datePickerMode == .time }
    override func type(_ text: String) -> Bool {
        let parts = text.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 2, (0..<24).contains(parts[0]), (0..<60).contains(parts[1]),
            let date = self.ownCalendar.date(bySettingHour: parts[0], minute: parts[1], second: 0, of: self.date)
        else { return false }
        self.date = date
        self.sendActions(for: [.valueChanged, .primaryActionTriggered])
        return true
    }
}
