import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

@Suite struct `A credential that is replaced` {
    @Test func `takes new connections and a new token, while the old connections drain`() {
        var sender = Sender.opened(sending: 1)
        #expect(sender.handle(.credentialReplaced) == [])
        #expect(sender.send(2) == [.resolve(Sender.second)])
        #expect(sender.reconnect(Sender.second) == [.mintToken])
        #expect(sender.handle(.tokenMinted) == [.open(1, on: Sender.second, 2)])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted), .close(Sender.first, .credential)])
    }

    @Test func `gives up what is being opened with the old one`() {
        var sender = Sender.sending()
        #expect(
            sender.handle(.credentialReplaced) == [.close(Sender.first, .credential), .resolve(Sender.second)])
        #expect(sender.handle(.resolved(Sender.first, ["a"])) == [])
    }

    @Test func `closes the breakers and forgets the pauses of the old one`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number, topic: "t\(number)") }
        _ = sender.answer(3, Sender.refusal(.topicDisallowed))
        _ = sender.answer(5, Sender.refusal(.invalidProviderToken))
        #expect(sender.send(3, topic: "t1") == [.finish(3, .stopped("InvalidProviderToken"))])
        #expect(sender.handle(.credentialReplaced) == [.close(Sender.first, .credential)])
        #expect(sender.send(4, topic: "t1") == [.resolve(Sender.second)])
    }

    /// Answers about the old key are on their way when the new one is in place.
    @Test(arguments: [APNsReason.invalidProviderToken, .expiredProviderToken, .topicDisallowed, .badCertificate])
    func `is not blamed for the old one, and has what that was refused for sent again`(reason: APNsReason) {
        var sender = Sender.opened(sending: 1)
        _ = sender.handle(.credentialReplaced)
        #expect(
            sender.answer(3, Sender.refusal(reason)) == [.close(Sender.first, .credential), .resolve(Sender.second)])
        #expect(sender.core.breakers.isEmpty)
        _ = sender.reconnect(Sender.second)
        #expect(sender.handle(.tokenMinted) == [.open(1, on: Sender.second, 1)])
        // The same from the new one is a fault.
        _ = sender.answer(1, on: Sender.second, Sender.refusal(reason))
        #expect(sender.core.breakers.count == 1)
    }

    @Test func `is not blamed for a GOAWAY or for bad tokens on the old connections`() {
        var sender = Sender.opened(answer: Sender.refusal(.payloadEmpty)) { $0.badTokensMax = 1 }
        for number: UInt64 in 1...2 { _ = sender.send(number) }
        _ = sender.handle(.credentialReplaced)
        _ = sender.answer(3, Sender.refusal(.badDeviceToken))
        let debugData = Array(#"{"reason":"BadCertificate"}"#.utf8)
        _ = sender.handle(.goAwayReceived(Sender.first, lastStream: 5, debugData: debugData, jitter: 0))
        #expect(sender.core.breakers.isEmpty)
        #expect(sender.core.badTokens == 0)
    }
}

@Suite struct `Bad device tokens in a row` {
    private let bad = Sender.refusal(.badDeviceToken)
    private let refused = Sender.refused(.badDeviceToken)
    private let cause = "wrong environment: 3 device tokens in a row are bad"

    @Test func `mean the wrong environment, and stay refused for what they are`() {
        var sender = Sender.opened(answer: Sender.refusal(.payloadEmpty)) { $0.badTokensMax = 3 }
        for number: UInt64 in 1...4 { _ = sender.send(number) }
        #expect(sender.answer(3, self.bad) == [.finish(1, self.refused)])
        // A dead token is no good one.
        #expect(sender.answer(5, Sender.refusal(.unregistered)) == [.finish(2, Sender.refused(.unregistered))])
        #expect(sender.answer(7, self.bad) == [.finish(3, self.refused)])
        #expect(
            sender.answer(9, self.bad) == [
                .warn("nothing is sent with this credential: \(self.cause)"), .finish(4, self.refused),
            ])
        #expect(sender.send(5) == [.finish(5, .stopped("\(self.cause)"))])
        // The probe meets it again.
        _ = sender.pass(to: 15_000)
        #expect(sender.send(6) == [.open(11, 6)])
        _ = sender.answer(11, self.bad)
        #expect(sender.send(7) == [.finish(7, .stopped("\(self.cause)"))])
        // The next one is good: the environment is the right one, and nobody is stopped for bad tokens any more.
        sender.idle(to: 45_000)
        #expect(sender.send(8) == [.open(13, 8)])
        #expect(sender.answer(13) == [.finish(8, Sender.accepted)])
        for (number, stream) in zip((9 as UInt64)..., stride(from: 15 as Int64, through: 33, by: 2)) {
            #expect(sender.send(number) == [.open(stream, number)])
            #expect(sender.answer(stream, self.bad) == [.finish(number, self.refused)])
        }
    }

    @Test func `mean nothing once one was good, however many they are, until the credential is replaced`() {
        var sender = Sender.opened { $0.badTokensMax = 2 }
        for number: UInt64 in 1...9 {
            _ = sender.send(number)
            #expect(sender.answer(Int64(2 * number + 1), self.bad) == [.finish(number, self.refused)])
        }
        _ = sender.handle(.credentialReplaced)
        #expect(sender.core.badTokens == 0)
    }

    @Test func `mean nothing to a caller who judges them`() {
        var sender = Sender.opened(answer: self.bad) { $0.badTokensMax = nil }
        for number: UInt64 in 1...60 {
            _ = sender.send(number)
            #expect(sender.answer(Int64(2 * number + 1), self.bad) == [.finish(number, self.refused)])
        }
    }
}

@Suite struct `Device tokens in a row that are not for their topic` {
    private let stray = Sender.refusal(.deviceTokenNotForTopic)
    private let refused = Sender.refused(.deviceTokenNotForTopic)
    private let cause = "wrong topic: 2 device tokens in a row are not for it"

    @Test func `mean the wrong topic, which is stopped alone`() {
        var sender = Sender.opened { $0.badTokensMax = 2 }
        for number: UInt64 in 1...2 { _ = sender.send(number, topic: "wrong") }
        #expect(sender.answer(3, self.stray) == [.finish(1, self.refused)])
        #expect(
            sender.answer(5, self.stray) == [
                .warn("nothing is sent to topic wrong: \(self.cause)"), .finish(2, self.refused),
            ])
        #expect(sender.send(3, topic: "wrong") == [.finish(3, .stopped("\(self.cause)"))])
        #expect(sender.send(4, topic: "right") == [.open(7, 4)])
    }

    @Test func `mean nothing once a push to the topic was accepted, and something if it was to another`() {
        var sender = Sender.opened { $0.badTokensMax = 2 }
        _ = sender.send(1, topic: "mixed")
        _ = sender.answer(3)
        for number: UInt64 in 2...5 {
            _ = sender.send(number, topic: "mixed")
            #expect(sender.answer(Int64(2 * number + 1), self.stray) == [.finish(number, self.refused)])
        }
        _ = sender.send(6, topic: "wrong")
        _ = sender.answer(13, self.stray)
        _ = sender.send(7, topic: "mixed")
        _ = sender.answer(15)
        _ = sender.send(8, topic: "wrong")
        _ = sender.answer(17, self.stray)
        #expect(sender.send(9, topic: "wrong") == [.finish(9, .stopped("\(self.cause)"))])
    }

    @Test func `on connections of a replaced credential say nothing`() {
        var sender = Sender.opened { $0.badTokensMax = 1 }
        _ = sender.send(1, topic: "wrong")
        _ = sender.handle(.credentialReplaced)
        _ = sender.answer(3, self.stray)
        #expect(sender.core.breakers.isEmpty)
    }
}
