import StoreModel
import TidingsModel

// What the kit reports of a phone: shown to an operator, and never a reason to send a message or not.
extension ServerCore {
    /// The store has it at once when it has changed, else each hour. What a phone says shortly after the one before has it when the person
    /// is put aside: one that says something else all the time is not worth a record each.
    private static let reportInterval: Int64 = 3_600_000
    private static let changedReportInterval: Int64 = 10_000

    mutating func keepReport(_ status: DeviceStatus, slot: Int, index: Int) {
        let now = self.turn.now
        let reported = ReportedStatus(status, at: now.wall, after: self.people[slot].devices[index].reported)
        self.people[slot].devices[index].reported = reported
        let stored = self.people[slot].devices[index].storedReport
        let interval = stored?.status == status ? Self.reportInterval : Self.changedReportInterval
        if let stored, now.wall < stored.at + interval, now.wall >= stored.at { return }
        self.storeReport(slot, index)
    }

    mutating func storeReports(_ slot: Int) {
        for index in self.people[slot].devices.indices
        where self.people[slot].devices[index].reported != self.people[slot].devices[index].storedReport {
            self.storeReport(slot, index)
        }
    }

    private mutating func storeReport(_ slot: Int, _ index: Int) {
        guard let reported = self.people[slot].devices[index].reported else { return }
        self.people[slot].devices[index].storedReport = reported
        let key = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        self.turn.ask(.setDeviceStatus(key, reported))
    }

    /// With what loaded people's devices have reported since the store was told.
    func withLiveReports(_ trace: MessageTrace) -> MessageTrace {
        var trace = trace
        trace.reports = trace.reports.map { report in
            guard let slot = self.slots[report.device.user],
                let index = self.people[slot].devices.index(of: report.device.device),
                let reported = self.people[slot].devices[index].reported
            else { return report }
            return DeviceReport(device: report.device, reported: reported)
        }
        return trace
    }
}
