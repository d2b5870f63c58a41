public import Foundation

/// A colour by its parts, or by what it is for; nothing is painted with it. https://developer.apple.com/documentation/uikit/uicolor
public final class UIColor: Hashable, Sendable {
    private let parts: [CGFloat]
    /// The use of the color; it differs between light and dark.
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
    /// White.
    public static let white = UIColor(white: 1, alpha: 1)
    // By use: https://developer.apple.com/documentation/uikit/ui-element-colors
    /// Words of the first importance.
    public static let label = UIColor(for: "label")
    /// Words of the second.
    public static let secondaryLabel = UIColor(for: "secondaryLabel")
    /// Behind everything.
    public static let systemBackground = UIColor(for: "systemBackground")
    /// Behind a group.
    public static let secondarySystemBackground = UIColor(for: "secondarySystemBackground")
    /// Behind a group in a group.
    public static let tertiarySystemBackground = UIColor(for: "tertiarySystemBackground")
    /// The color of things that can be tapped.
    public static let tintColor = UIColor(for: "tintColor")
    /// Red.
    public static let systemRed = UIColor(for: "systemRed")
    /// Blue.
    public static let systemBlue = UIColor(for: "systemBlue")
    /// Grey.
    public static let systemGray = UIColor(for: "systemGray")

    /// The same parts, or for the same use.
    public static func == (left: UIColor, right: UIColor) -> Bool { left.parts == right.parts && left.use == right.use }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.parts)
        hasher.combine(self.use)
    }
}

/// A font by what it is for. There are no fixed ones: what a person reads grows as they have set it.
/// https://developer.apple.com/documentation/uikit/uifont
public final class UIFont: Hashable, Sendable {
    /// The role of a text. https://developer.apple.com/documentation/uikit/uifont/textstyle
    public struct TextStyle: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Wraps Apple's text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A heading.
        public static let headline = TextStyle(rawValue: "UICTFontTextStyleHeadline")
        /// Below a heading.
        public static let subheadline = TextStyle(rawValue: "UICTFontTextStyleSubhead")
        /// The text that is read.
        public static let body = TextStyle(rawValue: "UICTFontTextStyleBody")
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

    /// Returns true if both have the same style.
    public static func == (left: UIFont, right: UIFont) -> Bool { left.style == right.style }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.style) }
}

/// Lengths that grow with the text. A virtual phone has the standard size, at which they stay.
/// https://developer.apple.com/documentation/uikit/uifontmetrics
public final class UIFontMetrics: Sendable {
    /// Makes the metrics of a style.
    public init(forTextStyle textStyle: UIFont.TextStyle) {}
    /// A length in the size that the person has set.
    public func scaledValue(for value: CGFloat) -> CGFloat { value }
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

    /// PNG, JPEG, GIF, WebP or HEIC.
    private static func isImage(_ data: Data) -> Bool {
        let first = Array(data.prefix(12))
        let beginnings: [[UInt8]] = [[0x89, 0x50, 0x4e, 0x47], [0xff, 0xd8, 0xff], Array("GIF8".utf8)]
        if beginnings.contains(where: first.starts(with:)) { return true }
        guard first.count == 12 else { return false }
        return first.starts(with: "RIFF".utf8) && first[8...].elementsEqual("WEBP".utf8)
            || first[4...].starts(with: "ftyphei".utf8)
    }

    /// The same bytes, or the same symbol.
    public static func == (left: UIImage, right: UIImage) -> Bool {
        left.bytes == right.bytes && left.symbol == right.symbol
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.bytes)
        hasher.combine(self.symbol)
    }
}
