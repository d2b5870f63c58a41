import Requirements
import Testing

@testable import HTTP2Connection

@Suite struct `The table of open streams` {
    private static func stream(_ window: Int) -> Stream { Stream(sendWindow: window, receiveWindow: 0) }

    @Test func `finds what was put in, and nothing else`() {
        var table = StreamTable()
        #expect(table.place(of: 0) == nil)
        #expect(table.place(of: 1) == nil)
        for id in stride(from: StreamID(1), to: 2_001, by: 2) { table.insert(id, Self.stream(Int(id))) }
        #expect(table.count == 1_000)
        #expect(table.place(of: 2_001) == nil)
        for id in stride(from: StreamID(1), to: 2_001, by: 2) {
            #expect(table.place(of: id).map { table[$0].sendWindow } == Int(id))
        }
        #expect(table.ids.first == 1 && table.ids.last == 1_999)
    }

    @Test(arguments: UInt64(1)...8)
    func `agrees with a dictionary whatever comes and goes`(seed: UInt64) {
        var chance = Chance(seed: seed)
        var table = StreamTable()
        var model: [StreamID: Int] = [:]
        // Numbers with strides, so that several of them share a place.
        let stride = StreamID([2, 16, 64, 2_048][Int(seed % 4)])
        for step in 0..<4_000 {
            let id = 1 + StreamID(chance.below(300)) * stride
            if let place = table.place(of: id) {
                #expect(model[id] == table[place].sendWindow)
                if chance.below(2) == 0 {
                    table.remove(at: place)
                    model[id] = nil
                } else {
                    table[place].sendWindow += 1
                    model[id]? += 1
                }
            } else {
                #expect(model[id] == nil)
                table.insert(id, Self.stream(step))
                model[id] = step
            }
            #expect(table.count == model.count)
        }
        #expect(table.ids == model.keys.sorted())
    }
}
