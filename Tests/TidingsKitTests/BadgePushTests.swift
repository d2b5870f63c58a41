import ClientCore
import Foundation
import PhoneCore
import SDKTestSupport
import Testing
import TidingsClient
import TidingsModel
import UIKit
import VirtualPhone

@testable import TidingsKit

extension ChatBench {
    fileprivate var list: [String] { self.phone.screen.list.map(\.notification.request.identifier) }

    /// Three messages have come in the background and are on the lock screen; the connection is closed.
    fileprivate static func suspended(osVersion: OSVersion = 17) async -> (ChatBench, [MessageID]) {
        let bench = await ChatBench(osVersion: osVersion)
        await bench.goHome()
        var messages: [MessageID] = []
        for number in 1...3 {
            messages.append(bench.server.say("\(number)"))
            await bench.until { $0.list.count == number && $0.icon == number }
        }
        bench.kit?.client.backgroundTimeWillExpire()
        await bench.until { !$0.server.isConnected }
        return (bench, messages)
    }
}

@MainActor @Suite(.serialized) struct `A push about the number on the icon` {
    @Test(arguments: [OSVersion(13), 15, 16, 17])
    func `lowers it at once, also where the server cannot be reached`(version: OSVersion) async {
        let (bench, messages) = await ChatBench.suspended(osVersion: version)
        #expect(bench.icon == 3)
        bench.server.setNetwork(.refuses)
        // Nobody waits in real time for an answer that comes with the end of the wake.
        bench.phone.timeoutMilliseconds = 20
        await bench.badgePush(1, at: 4)
        await bench.until { $0.icon == 1 }
        #expect(bench.icon == 1)
        // Which of them were read, only the log says.
        #expect(bench.list.sorted() == messages.map(\.description).sorted())
        #expect(bench.phone.presentations.count == 3)
        await bench.advance(by: 28_000)
        await bench.until { !$0.fetchResults.isEmpty }
        #expect(bench.fetchResults == [.newData])
        #expect(bench.phone.faults == [])
    }

    @Test func `brings the log too, and what was read elsewhere leaves the notification centre`() async {
        let (bench, messages) = await ChatBench.suspended()
        bench.server.readElsewhere(upTo: 2)
        await bench.badgePush(1, at: 4)
        await bench.until { $0.list.count == 1 && $0.fetchResults.count == 1 }
        #expect(bench.list == [messages[2].description])
        #expect(bench.icon == 1)
        #expect(bench.fetchResults == [.newData])
        await bench.until { !$0.server.isConnected }
        #expect(bench.server.frames.last == .runState(.suspending))
        #expect(bench.phone.presentations.count == 3)
        #expect(bench.phone.faults == [])
    }

    @Test func `lowers it in a process that the push has started, before anybody has signed in`() async {
        let (bench, _) = await ChatBench.suspended()
        await bench.kill()
        bench.server.setNetwork(.refuses)
        bench.phone.timeoutMilliseconds = 20
        await bench.badgePush(1, at: 4)
        await bench.until { $0.icon == 1 }
        #expect(bench.icon == 1)
        #expect(bench.launches.count == 2)
        #expect(bench.phone.faults == [])
    }

    @Test func `is ignored if it is older than what the phone has counted`() async {
        let (bench, messages) = await ChatBench.suspended()
        await bench.badgePush(1, at: 3)
        await bench.until { $0.fetchResults.count == 1 }
        #expect(bench.fetchResults == [.noData])
        #expect(bench.icon == 3)
        #expect(bench.list.sorted() == messages.map(\.description).sorted())
    }

    @Test func `for somebody else changes nothing, and wakes nobody`() async {
        let (bench, _) = await ChatBench.suspended()
        let before = bench.server.frames.count
        await bench.badgePush(1, at: 4, to: "another")
        await bench.until { $0.fetchResults.count == 1 }
        #expect(bench.fetchResults == [.noData])
        #expect(bench.icon == 3)
        #expect(bench.frames(after: before) == [])
    }

    @Test func `is nothing to a phone nobody is signed in on`() async throws {
        let bench = await ChatBench()
        let client = try #require(bench.kit?.client)
        Task { await client.signOut() }
        await bench.until { client.userID == nil && !$0.server.isConnected }
        await bench.phone.home()
        let before = bench.server.frames.count
        await bench.badgePush(1, at: 4)
        await bench.until { $0.fetchResults.count == 1 }
        #expect(bench.fetchResults == [.noData])
        #expect(bench.icon == 0)
        #expect(bench.frames(after: before) == [])
    }

    @Test func `leaves the number to an app that keeps it itself`() async {
        let (bench, _) = await ChatBench.suspended()
        bench.kit?.client.isBadgeManaged = false
        bench.server.readElsewhere(upTo: 2)
        await bench.badgePush(1, at: 4)
        await bench.until { $0.fetchResults.count == 1 }
        #expect(bench.icon == 3)
        #expect(bench.fetchResults == [.newData], "the log has something new all the same")
    }
}
