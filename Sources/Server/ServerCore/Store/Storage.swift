import TidingsModel

/// Below a floor of free room nothing new is stored, so that reading, settling and recalling can still be written
/// down.
extension ServerCore {
    static let storageFull = ServerFrame.Problem(
        code: .storageFull, rule: "the server's disk is almost full; try again later")

    /// Room has to grow to an eighth above the floor before new things are stored again, so that it does not flap.
    mutating func updateStorage(free: Int64) {
        let floor = self.turn.settings.freeBytesMin
        let isFull = free < (self.isStorageFull ? floor + floor / 8 : floor)
        guard isFull != self.isStorageFull else { return }
        self.isStorageFull = isFull
        self.turn.emit(.storageChanged(isFull: isFull, free: free))
    }

    func checkStorage() throws(ServerFrame.Problem) {
        guard !self.isStorageFull else { throw Self.storageFull }
    }
}
