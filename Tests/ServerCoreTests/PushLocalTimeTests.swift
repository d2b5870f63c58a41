import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let hour: Int64 = 3_600_000

extension ServerBench {
    /// It was the time in Asia just now, will be in Europe in an hour, and in America in two.
    fileprivate func localDraft() -> PushDraft {
        var draft = Self.pushDraft()
        draft.localTime = PushLocalTime(
            text: "2026-12-01T09:00", timeZone: "Europe/Berlin",
            passes: [
                .init(at: self.now.wall - 1, timeZones: ["Asia/Shanghai"]),
                .init(at: self.now.wall + hour, timeZones: ["Europe/Berlin"]),
                .init(at: self.now.wall + 2 * hour, timeZones: ["America/New_York"]),
            ])
        return draft
    }

    /// With a phone that is gone, and has said where it is.
    fileprivate mutating func goneDevice(_ user: UserID, in zone: String) {
        self.goneDevice(user)
        var status = DeviceStatus(
            authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .available)
        status.timeZone = zone
        _ = try? self.store.apply(
            .setDeviceStatus(Self.device(user), ReportedStatus(status, at: self.now.wall)), epoch: self.opening.epoch)
    }

    fileprivate mutating func aboutJob(after milliseconds: Int64) -> [String] {
        self.pass(milliseconds).filter { $0.contains("j1") }
    }
}

@Suite struct `A PushJob at a time on people's own clocks` {
    @Test func `begins for each time zone when it is the time there, and reaches everybody once`() {
        var bench = ServerBench.gone()
        bench.goneDevice("carol", in: "Asia/Shanghai")
        let now = bench.now.wall
        #expect(
            bench.push(bench.localDraft()) == [
                "store push j1", "reply j1 scheduled, 0 people", "store start j1", "store step j1 by 1000",
                "push m1 to carol/phone badge 0@1",
            ])
        bench.acceptPush()
        #expect(bench.job(1)?.state == .scheduled && bench.job(1)?.sendAt == now + hour)
        #expect(bench.aboutJob(after: hour - 1) == [])
        // Bob's phone has told nothing: he goes by the clock of the push.
        #expect(
            bench.pass(1) == [
                "store start j1", "store step j1 by 1000", "store load bob", "push m1001 to bob/phone badge 0@1",
            ])
        bench.acceptPush()
        #expect(bench.aboutJob(after: hour) == ["store start j1", "store step j1 by 1000"])
        #expect(bench.job(1)?.state == .done && bench.job(1)?.counts.recipients == 2)
        #expect(
            bench.jobReports.map(\.state) == [
                .scheduled, .running, .scheduled, .running, .scheduled, .running, .done,
            ])
        #expect(bench.jobReports.allSatisfy { $0.isNews })
    }

    @Test func `is for at most a year ahead in its last zone`() {
        var bench = ServerBench()
        var late = bench.localDraft()
        late.localTime?.passes[2].at = bench.now.wall + PushDraft.sendAheadMax + 1
        #expect(bench.push(late) == ["reply refused invalid_field send_at_local"])
    }

    @Test func `is cancelled between two zones, and sends nothing more`() {
        var bench = ServerBench.gone()
        bench.goneDevice("carol", in: "Asia/Shanghai")
        bench.push(bench.localDraft())
        bench.acceptPush()
        #expect(bench.change(1, .cancel) == ["store cancel j1", "reply j1 cancelled, 1 people"])
        #expect(bench.aboutJob(after: 3 * hour) == [])
        #expect(bench.job(1)?.counts.ends == ["accepted": 1])
    }

    @Test func `is taken back between two zones where it was shown, and reaches nobody else`() {
        var bench = ServerBench.gone()
        bench.goneDevice("carol", in: "Asia/Shanghai")
        bench.push(bench.localDraft())
        bench.acceptPush()
        let lines = bench.change(1, .recall)
        #expect(lines.prefix(3) == ["store recall j1", "reply j1 recalling, 1 people", "store step j1 by 1000"])
        #expect(lines.filter { $0.hasPrefix("push") } == ["push m1 to carol/phone badge 0@2"])
        bench.acceptPush()
        #expect(bench.aboutJob(after: 3 * hour) == [])
        #expect(bench.job(1)?.state == .recalled)
        #expect(bench.job(1)?.counts.recipients == 1 && bench.job(1)?.counts.recalled == 1)
    }

    @Test func `goes on with its next zone after a kill, and repeats none`() {
        var bench = ServerBench.gone()
        bench.goneDevice("carol", in: "Asia/Shanghai")
        bench.push(bench.localDraft())
        bench.acceptPush()
        bench.crash()
        #expect(bench.aboutJob(after: hour - 1) == [])
        #expect(bench.aboutJob(after: 1) == ["store start j1", "store step j1 by 1000"])
        #expect(bench.pushes.map(\.device.user.user) == ["bob"])
        bench.acceptPush()
        bench.pass(hour)
        #expect(bench.job(1)?.state == .done)
        #expect(bench.job(1)?.counts.ends == ["accepted": 2])
    }

    @Test func `ends with its next zone if its account is taken back before`() {
        var bench = ServerBench.gone()
        bench.goneDevice("carol", in: "Asia/Shanghai")
        let news = ConversationID(type: .publicService, target: "news")
        _ = try? bench.store.apply(.putAccount(ServerBench.app, ServiceAccount(news)), epoch: bench.opening.epoch)
        var draft = bench.localDraft()
        draft.account = news
        bench.push(draft)
        bench.acceptPush()
        _ = try? bench.store.apply(
            .setAccount(ServerBench.app, news, isDeclared: false), epoch: bench.opening.epoch)
        #expect(bench.aboutJob(after: hour) == ["store start j1", "store step j1 by 1000"])
        #expect(bench.aboutJob(after: 2 * hour) == [])
        #expect(bench.job(1)?.state == .cancelled && bench.job(1)?.counts.recipients == 1)
    }
}
