import StoreModel
import Testing
import TidingsModel

@Suite struct `The receipts of a message` {
    private func receipts(_ opened: inout Opened, of id: UInt64, asked: UserID? = nil) throws -> MessageReceipts? {
        let result = try opened.apply(.readReceipts("shop", MessageID(rawValue: id), asked: asked))
        guard case .receipts(let receipts) = result else { return nil }
        return receipts
    }

    private func device(_ user: UserKey, _ id: DeviceID = "phone") -> DeviceKey { DeviceKey(user: user, device: id) }

    @Test func `count each person but the sender, who has got it and who has read it`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo", "cy", "di"]))
        for user in [bo, UserKey(app: "shop", user: "cy")] {
            _ = try opened.apply(.signIn(self.device(user), platform: "ios", at: 1))
        }
        let position = try #require(try opened.send(message(1, in: team)).last?.position)
        #expect(
            try self.receipts(&opened, of: 1)
                == MessageReceipts(id: MessageID(rawValue: 1), recipients: 3, delivered: [], read: []))
        _ = try opened.apply(.advance(self.device(bo), settled: position, decided: nil))
        _ = try opened.apply(.markRead(UserKey(app: "shop", user: "cy"), team, upTo: position, at: 9))
        #expect(
            try self.receipts(&opened, of: 1, asked: "ada")
                == MessageReceipts(id: MessageID(rawValue: 1), recipients: 3, delivered: ["bo", "cy"], read: ["cy"]))
    }

    @Test func `have it arrive where a phone said that its push was shown`() throws {
        var opened = Opened()
        _ = try opened.apply(.signIn(self.device(bo), platform: "ios", at: 1))
        _ = try opened.send(message(1))
        let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")
        _ = try opened.apply(.receipt(leg, .shown, at: 5))
        #expect(try self.receipts(&opened, of: 1)?.delivered == ["bo"])
    }

    @Test func `count no device that has signed in since`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(.signIn(self.device(bo), platform: "ios", at: 1))
        #expect(try self.receipts(&opened, of: 1)?.delivered == [])
    }

    @Test func `tell a sender nothing of the reading of who has blocked them, and the backend everything`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo", "cy"]))
        let position = try #require(try opened.send(message(1, in: team)).last?.position)
        for user in [bo, UserKey(app: "shop", user: "cy")] {
            _ = try opened.apply(.markRead(user, team, upTo: position, at: 9))
        }
        _ = try opened.apply(.setBlocked(bo, "ada", true, at: 10))
        #expect(try self.receipts(&opened, of: 1, asked: "ada")?.read == ["cy"])
        #expect(try self.receipts(&opened, of: 1)?.read == ["bo", "cy"])
        _ = try opened.apply(.setBlocked(bo, "ada", false, at: 11))
        #expect(try self.receipts(&opened, of: 1, asked: "ada")?.read == ["bo", "cy"])
    }

    @Test func `are told to the sender and the backend alone`() throws {
        var opened = try Opened(sending: message(1))
        let question = { (id: UInt64, user: UserID?) in
            StoreCommand.readReceipts("shop", MessageID(rawValue: id), asked: user)
        }
        #expect(refused(try opened.apply(question(1, "bo"))) == "not_allowed message")
        #expect(refused(try opened.apply(question(9, "ada"))) == "unknown_message message")
        #expect(try self.receipts(&opened, of: 1, asked: "ada")?.recipients == 1)
    }
}
