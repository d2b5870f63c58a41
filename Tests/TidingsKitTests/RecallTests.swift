import PhoneCore
import SDKTestSupport
import Testing
import TidingsClient
import TidingsModel
import UIKit
import VirtualPhone

@testable import TidingsKit

@MainActor @Suite(.serialized) struct `A recalled message's notification` {
    private static func list(_ bench: ChatBench) -> [String] {
        bench.phone.screen.list.map(\.notification.request.content.body).sorted()
    }

    @Test(arguments: [OSVersion(14), OSVersion(15), OSVersion(17)])
    func `is replaced without a ring from iOS 15 on, and only taken out before`(version: OSVersion) async {
        let bench = await ChatBench(osVersion: version)
        await bench.goHome()
        // One stays unread: below iOS 16 an icon without a number empties the list.
        bench.server.say("one")
        await bench.until { Self.list($0) == ["one"] }
        let id = bench.server.say("two")
        await bench.until { Self.list($0) == ["one", "two"] }
        #expect(Self.list(bench) == ["one", "two"])
        bench.server.recall(id)
        let left = version < OSVersion(15) ? ["one"] : ["A message was recalled", "one"]
        await bench.until { Self.list($0) == left }
        #expect(Self.list(bench) == left)
        #expect(bench.phone.presentations.filter(\.isRing).count == 2)
        #expect(bench.phone.faults == [])
    }
}
