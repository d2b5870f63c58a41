import Requirements
import Testing
import TidingsModel

@testable import ClientCore

private let own = AppWords(
    language: "de",
    byLanguage: [
        "de": NotificationWords(
            kinds: ["RC:ImgMsg": "[Bild]"], other: "Neue Nachricht", neutral: "Neues", hidden: "Verborgen",
            recalled: "Zurückgezogen", several: "{count} neue", stripped: "Für jemand anderen")
    ])

/// App's words, the language the person has set, and what they lead to.
private let cases: [(AppWords, String?, NotificationWords)] = [
    (AppWords(), nil, .english), (AppWords(), "en", .english), (AppWords(), "zh-Hans", .simplifiedChinese),
    (AppWords(language: "zh-Hans-CN"), nil, .simplifiedChinese), (own, nil, own.words(for: "de").words),
    (own, "en", .english),
]

/// The app group of a phone whose app has noted these words.
private struct Group: ExtensionGroup {
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var position: LogPosition?
    var showsContent = true
    var extensionFilters = false
    var words: NotificationWords
    var ledger = Ledger()
    var badge: Badge?
    func names(of payload: NotificationPayload) -> KnownNames { KnownNames() }

    /// What the extension makes of a push.
    mutating func body(of info: PushInfo, alert: String) -> String? {
        var machine = ExtensionMachine(
            .init(
                identifier: info.message.description,
                userInfo: [
                    "aps": ["alert": ["body": .string(alert)]],
                    "rc": ["cType": "PR", "fId": "bob", "oName": "RC:ImgMsg", "tId": "bob"],
                    "tidings": info.dictionary,
                ], mayFilter: false, isForeignRecall: false))
        var group: Group? = self
        var effects: [ExtensionMachine.Effect] = []
        machine.handle(.received, group: &group, canAskServer: false, wall: 0, into: &effects)
        if let group { self = group }
        guard case .finish(let edit)? = effects.last else { return nil }
        return edit?.body?.plain
    }
}

@Suite struct `Notifications` {
    private static func core(_ words: AppWords, _ language: String?, kit: KitSettings = KitSettings()) -> ClientCore {
        var core = ClientCore(
            settings: .init(app: "demo", person: alice, device: "phone", platform: "ios", words: words),
            restored: .init(preferences: AllSettings(person: PersonSettings(language: language))),
            isForeground: true, seed: 1)
        core.openConnection()
        _ = core.handle(.frameReceived(1, welcome()), at: at(0))
        _ = core.handle(.kitConfigured(kit), at: at(0))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(10))
        return core
    }

    /// The notification of an image that comes over the connection.
    private static func posted(_ core: inout ClientCore) -> LocalNotification? {
        var image = entry(1)
        if case .message(var message) = image.body {
            message.objectName = .image
            message.content = "{}"
            image.body = .message(message)
        }
        _ = core.hear(image, at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        guard case .postNotification(let shown)? = core.handle(.ringClaimed(id(101), .granted), at: at(11)).first
        else { return nil }
        return shown
    }

    @Test(.requirement("S0.13", "S3.9"), arguments: cases.indices)
    func `say the same in the language of the person, wherever they are made`(index: Int) {
        let (app, language, words) = cases[index]
        var core = Self.core(app, language)
        #expect(Self.posted(&core)?.body.plain == words.kinds[.image])
        let recall = Recall(id: id(9), message: id(101), conversation: withBob, sender: bob, at: 0)
        _ = core.handle(.notificationPosted(id(101), .shown), at: at(11))
        let effects = core.hear(LogEntry(position: 2, body: .recall(recall)), at: at(12))
        #expect(
            effects.contains { effect in
                guard case .recallNotification(_, let replacement) = effect else { return false }
                return replacement?.body == .text(words.recalled)
            })
        var hiding = Self.core(app, language, kit: KitSettings(showsContent: false))
        #expect(Self.posted(&hiding)?.body == .text(words.hidden))
        var group = Group(words: words)
        let text = PushInfo.Text(title: "Bob", body: .text(words.kinds[.image] ?? ""))
        var info = PushInfo(message: id(7), position: 1, badgePosition: 1, recipientTag: "tag", text: text)
        #expect(group.body(of: info, alert: words.neutral) == words.kinds[.image])
        info.recipientTag = "carol"
        #expect(group.body(of: info, alert: words.neutral) == words.stripped)
        info.recipientTag = "tag"
        group.ledger.markRecalled(id(7), by: .kit(process: 1), wall: 0)
        #expect(group.body(of: info, alert: words.neutral) == words.recalled)
    }

    @Test(.requirement("S0.13")) func `leaves the words of a recall as the server has them`() {
        var group = Group(words: .english)
        let info = PushInfo(message: id(7), position: 1, badgePosition: 1, recipientTag: "tag", isRecall: true)
        #expect(group.body(of: info, alert: "Un message a été retiré") == "Un message a été retiré")
        #expect(group.body(of: info, alert: "") == "A message was recalled")
    }

    @Test func `follow the language the person sets, and the extension is told`() {
        var core = Self.core(AppWords(), nil)
        #expect(
            core.handle(.settingRequested(.language("zh-Hans")), at: at(10)) == [
                .noteLanguage("zh-Hans"), .markPendingChange(.language("zh-Hans"), isTold: true),
                .sendFrame(1, .request(1, .setPersonSettings(PersonSettings(language: "zh-Hans")))),
            ])
        #expect(Self.posted(&core)?.body == "[图片]")
    }
}
