import StoreModel
import TidingsModel

/// The numbers of devices, and of people without any, in the order in which the store has named them: there are many more legs than
/// devices, and what names one is long.
struct LegHolders {
    /// A device's legs, or of somebody without any those of the person.
    private struct Holder: Hashable {
        var user: UserKey
        var device: DeviceID?

        /// Feeds person and device: the promises are about one app.
        func hash(into hasher: inout Hasher) {
            hasher.combine(self.user.user)
            hasher.combine(self.device)
        }
    }

    private var numbers: [Holder: Int] = [:]
    private var holders: [Holder] = []

    /// The number of who has a leg, or shall have.
    subscript(user: UserKey, device: DeviceID?) -> Int? { self.numbers[Holder(user: user, device: device)] }

    /// The leg of a message that the holder with a number has.
    func leg(of message: MessageID, at number: Int) -> LegID {
        LegID(message: message, user: self.holders[number].user, device: self.holders[number].device)
    }

    /// The device with a number; nil for somebody without any.
    func device(at number: Int) -> DeviceKey? {
        let holder = self.holders[number]
        return holder.device.map { DeviceKey(user: holder.user, device: $0) }
    }

    /// The number of a holder, who gets one if need be.
    mutating func take(_ user: UserKey, _ device: DeviceID?) -> Int {
        let holder = Holder(user: user, device: device)
        if let number = self.numbers[holder] { return number }
        self.numbers[holder] = self.holders.count
        self.holders.append(holder)
        return self.holders.count - 1
    }
}

/// Something of each leg, by message and by the holder's number.
struct LegTable<Value> {
    /// Where a leg stands; it stays there.
    struct Place: Hashable {
        fileprivate var row: Int
        fileprivate var cell: Int
    }

    /// The legs of a message.
    private struct Row {
        let message: MessageID
        /// Their holders, in the order in which they came; a few of most messages.
        var holders: [Int] = []
        var cells: [Value] = []
    }

    private var rows: [Row] = []
    private var rowOf: [MessageID: Int] = [:]

    /// Every leg: by the order in which the messages came, then the legs.
    var allPlaces: some Sequence<Place> {
        self.rows.indices.lazy.flatMap { row in
            self.rows[row].cells.indices.lazy.map { Place(row: row, cell: $0) }
        }
    }

    subscript(_ place: Place) -> Value {
        get { self.rows[place.row].cells[place.cell] }
        _modify { yield &self.rows[place.row].cells[place.cell] }
    }

    func message(at place: Place) -> MessageID { self.rows[place.row].message }

    func holder(at place: Place) -> Int { self.rows[place.row].holders[place.cell] }

    /// Who has legs of a message that fit, in the order in which these came.
    func holders(of message: MessageID, where fits: (Value) -> Bool) -> [Int] {
        guard let row = self.rowOf[message].map({ self.rows[$0] }) else { return [] }
        return zip(row.holders, row.cells).filter { fits($0.1) }.map(\.0)
    }

    /// Where the leg of a message stands that a holder has; nil if nothing is known of it.
    func find(_ message: MessageID, _ holder: Int) -> Place? {
        guard let row = self.rowOf[message], let cell = self.rows[row].holders.firstIndex(of: holder) else {
            return nil
        }
        return Place(row: row, cell: cell)
    }

    /// Where the leg of a message stands that a holder has; what stands there is `value` if nothing was known of it.
    mutating func place(_ message: MessageID, _ holder: Int, or value: @autoclosure () -> Value) -> Place {
        let row = self.rowOf[message] ?? self.addRow(message)
        if let cell = self.rows[row].holders.firstIndex(of: holder) { return Place(row: row, cell: cell) }
        self.rows[row].holders.append(holder)
        self.rows[row].cells.append(value())
        return Place(row: row, cell: self.rows[row].cells.count - 1)
    }

    private mutating func addRow(_ message: MessageID) -> Int {
        self.rowOf[message] = self.rows.count
        self.rows.append(Row(message: message))
        return self.rows.count - 1
    }
}
