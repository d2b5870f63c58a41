package import StoreModel
package import TidingsModel

extension ReportedStatus: StoredValue {
    package func write(to writer: inout ByteWriter) {
        let status = self.status
        writer.write(status.authorization, status.alert, status.sound, status.badge)
        writer.write(status.lockScreen, status.notificationCenter, status.backgroundRefresh, status.iconNumber)
        writer.write(status.isLowPowerModeOn, status.timeZone, status.languages)
        writer.write(status.appVersion, status.systemVersion, status.model, self.at, self.offSince)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        var status = DeviceStatus(
            authorization: try reader.read(), alert: try reader.read(), sound: try reader.read(),
            badge: try reader.read(), lockScreen: try reader.read(), notificationCenter: try reader.read(),
            backgroundRefresh: try reader.read(), iconNumber: try reader.read())
        (status.isLowPowerModeOn, status.timeZone) = (try reader.read(), try reader.read())
        (status.languages, status.appVersion) = (try reader.read(), try reader.read())
        (status.systemVersion, status.model) = (try reader.read(), try reader.read())
        self.init(status, at: try reader.read(), offSince: try reader.read())
    }
}

extension DeviceStatus.Authorization: StoredValue {}
extension DeviceStatus.BackgroundRefresh: StoredValue {}
extension DeviceStatus.IconNumber: StoredValue {}
