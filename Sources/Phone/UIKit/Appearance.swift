public import Foundation

/// A colour by its parts, or by what it is for; nothing is painted with it. https://developer.apple.com/documentation/uikit/uicolor
public final class UIColor: Hashable, Sendable {
    private let parts: [CGFloat]
    /// What it is for; light and dark differ in it.
    private let use: String?

    private init(_ parts: [CGFloat], use: String?) {
        self.parts = parts
        self.use = use
    }
    private convenience init(for use: String) { self.init([], use: use) }

    /// A colour of parts from 0 to 1.
    public convenience init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        self.init([red, green, blue, alpha], use: nil)
    }

    /// A grey from 0, black, to 1, white.
    public convenience init(white: CGFloat, alpha: CGFloat) {
        self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    /// This colour, more or less to be seen through: 0, not seen, to 1.
    public func withAlphaComponent(_ alpha: CGFloat) -> UIColor {
        UIColor(self.parts.dropLast() + [alpha], use: self.use)
    }

    /// Nothing.
    public static let clear = UIColor(white: 0, alpha: 0)
    /// Black.
    public static let black = UIColor(white: 0, alpha: 1)
    /// White.
    public static let white = UIColor(white: 1, alpha: 1)
    // By use: https://developer.apple.com/documentation/uikit/ui-element-colors
    /// Words of the first importance.
    public static let label = UIColor(for: "label")
    /// Words of the second.
    public static let secondaryLabel = UIColor(for: "secondaryLabel")
    /// Of the third.
    public static let tertiaryLabel = UIColor(for: "tertiaryLabel")
    /// Of the fourth.
    public static let quaternaryLabel = UIColor(for: "quaternaryLabel")
    /// What stands where nothing was typed.
    public static let placeholderText = UIColor(for: "placeholderText")
    /// A link.
    public static let link = UIColor(for: "link")
    /// Behind everything.
    public static let systemBackground = UIColor(for: "systemBackground")
    /// Behind a group.
    public static let secondarySystemBackground = UIColor(for: "secondarySystemBackground")
    /// Behind a group in a group.
    public static let tertiarySystemBackground = UIColor(for: "tertiarySystemBackground")
    /// Behind groups.
    public static let systemGroupedBackground = UIColor(for: "systemGroupedBackground")
    /// Behind one group of them.
    public static let secondarySystemGroupedBackground = UIColor(for: "secondarySystemGroupedBackground")
    /// A small shape.
    public static let systemFill = UIColor(for: "systemFill")
    /// A shape of middle size.
    public static let secondarySystemFill = UIColor(for: "secondarySystemFill")
    /// A large shape.
    public static let tertiarySystemFill = UIColor(for: "tertiarySystemFill")
    /// A very large one.
    public static let quaternarySystemFill = UIColor(for: "quaternarySystemFill")
    /// A thin line.
    public static let separator = UIColor(for: "separator")
    /// A thin line that covers.
    public static let opaqueSeparator = UIColor(for: "opaqueSeparator")
    /// What can be tapped.
    public static let tintColor = UIColor(for: "tintColor")
    /// Red.
    public static let systemRed = UIColor(for: "systemRed")
    /// Orange.
    public static let systemOrange = UIColor(for: "systemOrange")
    /// Yellow.
    public static let systemYellow = UIColor(for: "systemYellow")
    /// Green.
    public static let systemGreen = UIColor(for: "systemGreen")
    /// Blue.
    public static let systemBlue = UIColor(for: "systemBlue")
    /// Grey.
    public static let systemGray = UIColor(for: "systemGray")
    /// A grey nearer to the background: 2.
    public static let systemGray2 = UIColor(for: "systemGray2")
    /// A grey nearer to the background: 3.
    public static let systemGray3 = UIColor(for: "systemGray3")
    /// A grey nearer to the background: 4.
    public static let systemGray4 = UIColor(for: "systemGray4")
    /// A grey nearer to the background: 5.
    public static let systemGray5 = UIColor(for: "systemGray5")
    /// A grey nearer to the background: 6.
    public static let systemGray6 = UIColor(for: "systemGray6")

    public static func == (left: UIColor, right: UIColor) -> Bool { left.parts == right.parts && left.use == right.use }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.parts)
        hasher.combine(self.use)
    }
}

/// A font by what it is for. There are no fixed ones: what a person reads grows as they have set it.
/// https://developer.apple.com/documentation/uikit/uifont
public final class UIFont: Hashable, Sendable {
    /// What a text is. https://developer.apple.com/documentation/uikit/uifont/textstyle
    public struct TextStyle: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Wraps Apple's text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The title of a screen.
        public static let largeTitle = TextStyle(rawValue: "UICTFontTextStyleTitle0")
        /// A title of the first level.
        public static let title1 = TextStyle(rawValue: "UICTFontTextStyleTitle1")
        /// Of the second.
        public static let title2 = TextStyle(rawValue: "UICTFontTextStyleTitle2")
        /// Of the third.
        public static let title3 = TextStyle(rawValue: "UICTFontTextStyleTitle3")
        /// A heading.
        public static let headline = TextStyle(rawValue: "UICTFontTextStyleHeadline")
        /// Below a heading.
        public static let subheadline = TextStyle(rawValue: "UICTFontTextStyleSubhead")
        /// What is read.
        public static let body = TextStyle(rawValue: "UICTFontTextStyleBody")
        /// A remark.
        public static let callout = TextStyle(rawValue: "UICTFontTextStyleCallout")
        /// A note.
        public static let footnote = TextStyle(rawValue: "UICTFontTextStyleFootnote")
        /// Below an image.
        public static let caption1 = TextStyle(rawValue: "UICTFontTextStyleCaption1")
        /// The smallest.
        public static let caption2 = TextStyle(rawValue: "UICTFontTextStyleCaption2")
    }

    private let style: TextStyle
    private init(_ style: TextStyle) { self.style = style }

    /// The font of a style in the size that the person has set.
    public static func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont(style) }

    public static func == (left: UIFont, right: UIFont) -> Bool { left.style == right.style }
    public func hash(into hasher: inout Hasher) { hasher.combine(self.style) }
}

/// Lengths that grow with the text. A virtual phone has the standard size, at which they stay.
/// https://developer.apple.com/documentation/uikit/uifontmetrics
public final class UIFontMetrics: Sendable {
    /// As a style grows.
    public init(forTextStyle textStyle: UIFont.TextStyle) {}
    /// A length in the size that the person has set.
    public func scaledValue(for value: CGFloat) -> CGFloat { value }
    /// A font in the size that the person has set.
    public func scaledFont(for font: UIFont) -> UIFont { font }
}

/// An image: its bytes, or the name of a symbol. https://developer.apple.com/documentation/uikit/uiimage
public final class UIImage: Hashable, Sendable {
    private let bytes: Data?
    /// The name of the symbol; nil for other images.
    let symbol: String?

    /// Nil for what begins as no kind of image that iOS reads; nothing is decoded.
    public init?(data: Data) {
        guard Self.isImage(data) else { return nil }
        self.bytes = data
        self.symbol = nil
    }

    /// A symbol of Apple's; which there are is not known here.
    public init?(systemName name: String) {
        self.bytes = nil
        self.symbol = name
    }

    /// The image of a file, or nil.
    public convenience init?(contentsOfFile path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        self.init(data: data)
    }

    /// An image of the app's main bundle, PNG or JPEG, or nil.
    public convenience init?(named name: String) {
        let path = ["png", "jpg", ""].compactMap { Bundle.main.path(forResource: name, ofType: $0) }.first
        guard let path else { return nil }
        self.init(contentsOfFile: path)
    }

    /// Its bytes as they are, if they are PNG; nothing is encoded here.
    public func pngData() -> Data? { self.bytes?.first == 0x89 ? self.bytes : nil }
    /// Its bytes as they are; nothing is encoded here. Nil of a symbol.
    public func jpegData(compressionQuality: CGFloat) -> Data? { self.bytes }

    /// PNG, JPEG, GIF, WebP or HEIC.
    private static func isImage(_ data: Data) -> Bool {
        let first = Array(data.prefix(12))
        let beginnings: [[UInt8]] = [[0x89, 0x50, 0x4e, 0x47], [0xff, 0xd8, 0xff], Array("GIF8".utf8)]
        if beginnings.contains(where: first.starts(with:)) { return true }
        guard first.count == 12 else { return false }
        return first.starts(with: "RIFF".utf8) && first[8...].elementsEqual("WEBP".utf8)
            || first[4...].starts(with: "ftyphei".utf8)
    }

    public static func == (left: UIImage, right: UIImage) -> Bool {
        left.bytes == right.bytes && left.symbol == right.symbol
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.bytes)
        hasher.combine(self.symbol)
    }
}
