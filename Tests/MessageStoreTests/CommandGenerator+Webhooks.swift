import StoreMachine
import StoreModel
import TidingsModel

// Few webhooks and names, so that they meet. All of it by the clock: other draws would make other sequences.
extension CommandGenerator {
    /// Of kinds that come often.
    func webhookChange(inPlaceOf change: ControlChange) -> ControlChange? {
        let isInPlace =
            switch change {
            case .noteUses: self.clock % 2 == 1 && self.clock % 8 != 3
            case .removeSecret, .addAPIKey, .setAppSettings: self.clock % 4 == 2
            default: false
            }
        guard isInPlace else { return nil }
        return .changeWebhook(self.clock % 7 < 6 ? "shop" : "club", self.webhookChange)
    }

    private var webhookChange: WebhookChange {
        let number = self.clock / 4
        let id = number % 23 == 0 ? "a b" : "w\(number % 2)"
        switch number % 5 {
        case 0, 1:
            return .add(
                WebhookRecord(
                    id: id, name: number % 3 == 0 ? "Orders" : "Bills \(id)", url: self.webhookURL,
                    kinds: self.webhookKinds, isEnabled: number % 4 > 0, secret: self.webhookSecret,
                    createdAt: self.clock))
        case 2: return .rotateSecret(id: id, self.webhookSecret, previousEndsAt: self.clock + number % 3_000 - 20)
        case 3:
            return .set(
                id: id,
                WebhookEdit(
                    name: number % 3 == 0 ? "Orders" : nil, url: number % 2 == 0 ? self.webhookURL : nil,
                    kinds: number % 7 < 2 ? self.webhookKinds : nil, isEnabled: number % 4 < 2 ? number % 4 == 0 : nil))
        default: return number % 3 == 0 ? .remove(id: id) : .set(id: id, WebhookEdit(isEnabled: number % 2 == 0))
        }
    }

    private var webhookURL: String {
        self.clock % 11 == 0 ? "ftp://example.com" : "https://example.com/\(self.clock % 3)"
    }

    private var webhookKinds: [WebhookEventKind] {
        switch self.clock % 9 {
        case 0: []
        case 1..<5: [.receipt, .legEnded, .receipt]
        default: WebhookEventKind.allCases
        }
    }

    private var webhookSecret: SealedBytes {
        SealedBytes(keyID: self.clock % 2 == 0 ? "m1" : "m2", bytes: [UInt8(self.clock % 3)])
    }
}
