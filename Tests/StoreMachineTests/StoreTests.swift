import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `The log of a person` {
    @Test func `is read in pages`() throws {
        var opened = Opened()
        for id: UInt64 in 1...5 { _ = try opened.send(message(id)) }
        func positions(_ result: StoreResult) -> [LogPosition]? {
            guard case .page(let page) = result, page.head == 5, page.unread == 5 else { return nil }
            return page.entries.map(\.position)
        }
        #expect(positions(try opened.apply(.readLog(bo, after: 0, limit: 2))) == [1, 2])
        #expect(positions(try opened.apply(.readLog(bo, after: 2, limit: 9))) == [3, 4, 5])
        #expect(positions(try opened.apply(.readLog(bo, after: 5, limit: 9))) == [])
        #expect(positions(try opened.apply(.readLog(bo, after: .max, limit: 9))) == [])
        #expect(positions(try opened.apply(.readLog(bo, after: 0, limit: 0))) == [])
    }
}

@Suite struct `An owner` {
    @Test func `is told the largest message id and who has push work`() throws {
        var opened = Opened()
        #expect(opened.opening == StoreOpening(epoch: 1, lastMessageID: MessageID(rawValue: 0), pending: []))
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 1))
        _ = try opened.send(message(9))
        _ = try opened.send(message(4))
        #expect(opened.store.open() == StoreOpening(epoch: 2, lastMessageID: MessageID(rawValue: 9), pending: [bo]))
        _ = try opened.store.apply(.advance(phone, settled: nil, decided: 2), epoch: 2)
        #expect(opened.store.open().pending == [])
        let leg = LegID(message: MessageID(rawValue: 9), user: ada, device: nil)
        _ = try opened.store.apply(.keepLeg(OpenLeg(leg: leg, position: 1, wait: .live)), epoch: 3)
        #expect(opened.store.open().pending == [ada])
    }

    @Test func `is refused once another one has opened the store`() throws {
        let opened = Opened()
        _ = opened.store.open()
        let before = opened.store.dump()
        #expect(throws: StaleEpoch(presented: 1, current: 2)) {
            try opened.store.apply([.accept(message: message(1), senderDevice: nil)], epoch: 1)
        }
        #expect(throws: StaleEpoch(presented: 1, current: 2)) { try opened.store.apply(.loadUser(ada), epoch: 1) }
        #expect(opened.store.dump() == before)
    }

    @Test func `answers a batch as it answers its commands one by one`() throws {
        var one = Opened()
        let all = Opened()
        let batch: [StoreCommand] = [
            group(["ada", "bo"]), .accept(message: message(1, in: team), senderDevice: nil), .loadUser(bo),
            .markRead(bo, team, upTo: 1, at: 2), .loadUser(bo),
        ]
        let single = try batch.map { try one.apply($0) }
        #expect(try all.store.apply(batch, epoch: 1) == single)
        #expect(one.store.dump() == all.store.dump())
    }
}
