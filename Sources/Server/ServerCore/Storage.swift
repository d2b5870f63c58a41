import StoreModel
import TidingsModel

/// Room on the disk: below a floor nothing new is taken, so that reading, settling and recalling still find room to be written down.
extension ServerCore {
    /// What is told to whoever wants to store something new.
    static let storageFull = ServerFrame.Problem(
        code: .storageFull, rule: "the server's disk is almost full; try again later")

    /// Takes how much room there is. Room has to grow to an eighth above the floor before new things are taken again, so that it does
    /// not go to and fro.
    mutating func measure(free: Int64, _ effects: inout [ServerEffect]) {
        let floor = self.settings.freeBytesMin
        let isFull = free < (self.isStorageFull ? floor + floor / 8 : floor)
        guard isFull != self.isStorageFull else { return }
        self.isStorageFull = isFull
        effects.append(.storageChanged(isFull: isFull, free: free))
    }

    /// Whether something new may be stored.
    ///
    /// - Throws: `storage_full` while the disk is almost full.
    func checkRoom() throws(ServerFrame.Problem) {
        guard !self.isStorageFull else { throw Self.storageFull }
    }
}
