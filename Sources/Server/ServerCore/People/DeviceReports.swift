import StoreModel
import TidingsModel

// What the kit reports of a phone: shown to an operator, and never a reason to send a message or not.
extension Device {
    /// The store has it at once when it has changed, else each hour. What a phone says shortly after the one before has it when the person
    /// is put aside: one that says something else all the time is not worth a record each.
    private static let reportInterval: Int64 = 3_600_000
    private static let changedReportInterval: Int64 = 10_000

    mutating func keepReport(_ status: DeviceStatus, _ turn: inout Turn) {
        let now = turn.now.wall
        self.reported = ReportedStatus(status, at: now, after: self.reported)
        let interval = self.storedReport?.status == status ? Self.reportInterval : Self.changedReportInterval
        if let stored = self.storedReport, now < stored.at + interval, now >= stored.at { return }
        self.storeReport(&turn)
    }

    mutating func storeReport(_ turn: inout Turn) {
        guard let reported = self.reported else { return }
        self.storedReport = reported
        turn.ask(.setDeviceStatus(self.key, reported))
    }
}

extension ServerCore {
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
