import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `The counts of what is kept of an app` {
    private func use(of app: AppID = "shop", _ opened: inout Opened) throws -> StorageUse? {
        try opened.apply(.readStorageUse(app)).storageUse
    }

    /// Everything that is not named is none.
    private func counts(_ fill: (inout StorageUse) -> Void) -> StorageUse {
        var use = StorageUse()
        fill(&use)
        return use
    }

    @Test func `are those of one app`() throws {
        var opened = Opened()
        #expect(try self.use(&opened) == StorageUse())
        _ = try opened.send(message(1))
        _ = try opened.send(message(2, app: "club"))
        _ = try opened.send(message(3, app: "club"))
        let wanted = self.counts {
            $0.messages.add(1, bytes: 2)
            ($0.people, $0.logEntries) = (2, 2)
        }
        #expect(try self.use(&opened) == wanted)
        #expect(try self.use(of: "club", &opened)?.messages.number == 2)
        #expect(try self.use(of: "none", &opened) == StorageUse())
    }

    @Test func `follow what messages say, in bytes of UTF-8`() throws {
        var opened = try Opened(sending: message(1))
        func said() throws -> [Int] {
            let use = try self.use(&opened)
            return [use?.messages.number, use?.messages.bytes, use?.logEntries].compactMap(\.self)
        }
        #expect(try said() == [1, 2, 2])
        _ = try opened.edit(1, "höher", by: "ada")
        #expect(try said() == [1, 6, 4])
        _ = try opened.edit(1, "h", by: "ada")
        #expect(try said() == [1, 1, 6])
        // Deleted for one person, the message is there for the others.
        _ = try opened.delete([1], of: bo, in: toAda)
        #expect(try said() == [1, 1, 7])
        _ = try opened.recall(1, as: 9, by: "ada")
        #expect(try said() == [0, 0, 9])
    }

    @Test func `do not count a message that was sent again, or refused`() throws {
        var opened = try Opened(sending: message(1))
        let before = try self.use(&opened)
        _ = try opened.send(message(2, client: "c1"))
        _ = try opened.send(message(1, client: "c2"))
        _ = try opened.send(message(3, from: "eve", in: team))
        #expect(try self.use(&opened) == before)
    }

    @Test func `have a conversation also when it is dissolved, and its members`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo", "cy"]))
        _ = try opened.change(.rename("Others"))
        let made = try self.use(&opened)
        #expect([made?.conversations, made?.people, made?.logEntries] == [1, 3, 3])
        _ = try opened.change(.dissolve)
        #expect(try self.use(&opened)?.conversations == 1)
        _ = try opened.apply(group(["ada"]))
        #expect(try self.use(&opened)?.conversations == 1)
    }

    @Test func `have a device until it is unknown`() throws {
        var opened = Opened()
        func signIn(_ device: DeviceID, at: Int64) throws {
            _ = try opened.apply(.signIn(DeviceKey(user: bo, device: device), platform: "iOS", at: at))
        }
        try signIn("phone", at: 1)
        try signIn("phone", at: 2)
        #expect(try self.use(&opened)?.devices == 1)
        _ = try opened.apply(.signOut(phone, at: 3))
        #expect(try self.use(&opened)?.devices == 1)
        for number in 0..<Int64(DeviceRecord.signedOutMax) {
            let device = DeviceID("d\(number)")
            try signIn(device, at: 10 + number)
            _ = try opened.apply(.signOut(DeviceKey(user: bo, device: device), at: 10 + number))
        }
        try signIn("pad", at: 90)
        #expect(try self.use(&opened)?.devices == DeviceRecord.signedOutMax + 1)
    }

    @Test func `have what a push says once, until it is recalled`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo")
        try opened.create(job(1, .everybody))
        _ = try opened.step(1, 11...19)
        let sent = self.counts {
            $0.pushes.add(1, bytes: 5)
            // With the account.
            ($0.people, $0.devices, $0.logEntries) = (3, 2, 2)
        }
        #expect(try self.use(&opened) == sent)
        _ = try opened.told(1, .recall)
        _ = try opened.step(1, 21...29)
        let recalled = try self.use(&opened)
        #expect([recalled?.pushes.number, recalled?.pushes.bytes, recalled?.messages.number] == [1, 0, 0])
    }

    @Test func `have custom messages, with what they say`() throws {
        var opened = Opened()
        let operation = CustomOperation(
            app: "shop", message: CustomMessage(id: MessageID(rawValue: 1), content: "{}", sentAt: 1),
            recipients: ["ada", "bo"], clientMessageID: "c")
        _ = try opened.apply(.acceptCustom(operation))
        _ = try opened.apply(.acceptCustom(operation))
        let wanted = self.counts {
            $0.customMessages.add(1, bytes: 2)
            ($0.people, $0.logEntries) = (2, 2)
        }
        #expect(try self.use(&opened) == wanted)
    }

    @Test func `have kept answers until they are forgotten`() throws {
        var opened = Opened()
        func once(_ key: String, at: Int64) throws {
            let key = IdempotencyKey(app: "shop", apiKey: "backend", text: key)
            let request = IdempotentRequest(key: key, fingerprint: [1], keptMax: 10, at: at)
            _ = try opened.apply(.once(request, .changeAccount(bo, .ban(), at: 5)))
        }
        try once("a", at: 1)
        try once("b", at: 2)
        #expect(try self.use(&opened)?.keptAnswers == 2)
        try once("c", at: 2 + StoreRules.answerLifetime)
        #expect(try self.use(&opened)?.keptAnswers == 1)
    }

    @Test(arguments: 0..<8) func `are the same after a crash, wherever deriving was`(steps: Int) throws {
        var opened = Opened()
        try opened.signIn("ada", "bo")
        _ = try opened.apply(group(["ada", "bo"]))
        for id: UInt64 in 1...3 { _ = try opened.send(message(id)) }
        for _ in 0..<steps { _ = try opened.store.deriveStep() }
        _ = try opened.edit(1, "more", by: "ada")
        _ = try opened.recall(2, as: 9, by: "ada")
        let before = try self.use(&opened)
        for _ in 0..<3 {
            _ = opened.open()
            #expect(try self.use(&opened) == before)
            _ = try opened.store.deriveStep()
        }
    }
}
