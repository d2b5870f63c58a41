package import ClientCore
package import TidingsModel

extension AppGroup.Contents: ExtensionGroup {
    package var position: LogPosition? {
        get { self.recipient?.position }
        set { if let newValue { self.recipient?.position = newValue } }
    }
    package var showsContent: Bool { self.settings.showsContent }
    package var extensionFilters: Bool {
        get { self.settings.extensionFilters }
        set { self.settings.extensionFilters = newValue }
    }
    package var words: NotificationWords {
        self.settings.words ?? AppWords(language: PhoneLanguage.tag).words(for: nil).words
    }
    package func names(of payload: NotificationPayload) -> KnownNames {
        KnownNames(
            sender: self.settings[name: .user(payload.senderID)],
            group: self.settings[name: .conversation(payload.conversation)],
            memberCount: self.settings[name: .memberCount(payload.conversation)].flatMap { Int($0) })
    }
}
