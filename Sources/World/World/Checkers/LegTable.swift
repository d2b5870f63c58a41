import TidingsModel

/// Numbers for devices, and for people without any, in the order in which the store has named them: there are many
/// more legs than devices, and a device's key is long.
struct LegHolders {
    private struct Holder: Hashable {
        var user: UserKey
        var device: DeviceID?

        /// The checkers are about one app.
        func hash(into hasher: inout Hasher) {
            hasher.combine(self.user.user)
            hasher.combine(self.device)
        }
    }

    private var numbers: [Holder: Int] = [:]
    private var holders: [Holder] = []

    subscript(user: UserKey, device: DeviceID?) -> Int? { self.numbers[Holder(user: user, device: device)] }

    func leg(of message: MessageID, at number: Int) -> LegID {
        LegID(message: message, user: self.holders[number].user, device: self.holders[number].device)
    }

    func device(at number: Int) -> DeviceKey? {
        let holder = self.holders[number]
        return holder.device.map { DeviceKey(user: holder.user, device: $0) }
    }

    mutating func findOrAdd(_ user: UserKey, _ device: DeviceID?) -> Int {
        let holder = Holder(user: user, device: device)
        if let number = self.numbers[holder] { return number }
        self.numbers[holder] = self.holders.count
        self.holders.append(holder)
        return self.holders.count - 1
    }
}

struct LegTable<Value> {
    struct Place: Hashable {
        fileprivate var row: Int
        fileprivate var cell: Int
    }

    private struct Row {
        let message: MessageID
        /// In the order in which they came; few for most messages.
        var holders: [Int] = []
        var cells: [Value] = []
    }

    private var rows: [Row] = []
    private var rowOf: [MessageID: Int] = [:]

    /// By the order in which the messages came, then the legs.
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

    func holders(of message: MessageID, where fits: (Value) -> Bool) -> [Int] {
        guard let row = self.rowOf[message].map({ self.rows[$0] }) else { return [] }
        return zip(row.holders, row.cells).filter { fits($0.1) }.map(\.0)
    }

    func find(_ message: MessageID, _ holder: Int) -> Place? {
        guard let row = self.rowOf[message], let cell = self.rows[row].holders.firstIndex(of: holder) else {
            return nil
        }
        return Place(row: row, cell: cell)
    }

    mutating func findOrAdd(_ message: MessageID, _ holder: Int, or value: @autoclosure () -> Value) -> Place {
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
