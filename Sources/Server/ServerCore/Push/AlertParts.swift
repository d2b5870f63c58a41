import APNsModel
import TidingsModel

/// The parts of an alert that may have to give way to its limit of bytes. Ids and the app's own members never do: their limits leave room
/// (`PushOptions`).
struct AlertParts {
    /// Positions of the messages counted with the alert's own.
    var counted: [LogPosition]
    var options: PushOptions?
    /// Nil where the message is hidden, or not to be in the push.
    var text: PushInfo.Text?
    var imageURL: String?
    /// The sender's, where one message is shown.
    var portrait: String?

    /// The parts that give way, in this order: the text says most.
    enum Place: String, CaseIterable {
        case image, portrait, subtitle, text, names
    }

    /// Bytes of JSON of a name that has given way.
    private static let nameBytesMax = 64

    /// `excess`: by how many bytes of JSON the text is too long. False if there is nothing to give.
    mutating func giveWay(_ place: Place, excess: Int) -> Bool {
        switch place {
        case .image:
            guard self.imageURL != nil else { return false }
            self.imageURL = nil
            return true
        case .portrait:
            guard self.portrait != nil else { return false }
            self.portrait = nil
            return true
        case .subtitle:
            guard self.text?.subtitle != nil else { return false }
            self.text?.subtitle = nil
            return true
        case .text:
            guard case .text(let body)? = self.text?.body else { return false }
            self.text?.body = .text(
                APNsPayload.shortened(body, bytesMax: APNsPayload.escapedCount(body.utf8) - excess))
            return true
        case .names:
            func short(_ name: String) -> String {
                APNsPayload.escapedCount(name.utf8) <= Self.nameBytesMax
                    ? name : APNsPayload.shortened(name, bytesMax: Self.nameBytesMax)
            }
            guard self.text != nil else { return false }
            if case .text(let title)? = self.text?.title { self.text?.title = .text(short(title)) }
            if let sender = self.text?.sender { self.text?.sender = short(sender) }
            return true
        }
    }
}

extension APNsPayload.Alert {
    /// The same lines, of which the phone looks up those from the app's tables.
    init(_ text: PushInfo.Text) {
        self.init()
        (self.title, self.titleLocalization) = Self.forms(text.title)
        (self.subtitle, self.subtitleLocalization) = Self.forms(text.subtitle)
        (self.body, self.bodyLocalization) = Self.forms(text.line)
    }

    private static func forms(_ line: PushLine?) -> (String?, APNsPayload.Localization?) {
        switch line {
        case .text(let text): (text, nil)
        case .localized(let key, let arguments): (nil, APNsPayload.Localization(key, arguments))
        case nil: (nil, nil)
        }
    }
}

extension PushOptions {
    /// Passive means none: systems before iOS 15 know no level, and would play one.
    var apnsSound: APNsPayload.Sound? {
        switch self.interruptionLevel {
        case .passive: nil
        case .critical: .critical(name: self.sound ?? "default")
        case .active, .timeSensitive, nil: .named(self.sound ?? "default")
        }
    }

    /// For an alert that counts several messages: only what may hold for all of them, and no louder or quieter than usual.
    var forSeveral: PushOptions? {
        var options = self.withoutWords
        options?.interruptionLevel = nil
        return options
    }
}
