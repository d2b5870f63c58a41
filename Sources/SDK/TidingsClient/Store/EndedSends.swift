import Foundation

/// Sends that have ended while the database refused to delete them, as on a full phone. They are recorded in a file
/// that is allocated in advance and only overwritten in place, so that the next start does not send a refused message
/// again.
struct EndedSends {
    /// Row numbers of the outbox, which are never reused. They hold for this process even if recording them failed.
    private(set) var numbers: [Int64] = []
    private let file: URL?
    private var free = 0

    static let max = 256
    private static let slotBytes = 16
    /// XORed with a number and stored beside it, to recognize a torn slot.
    private static let mask: UInt64 = 0x5454_5454_5454_5454

    /// Reads what an earlier process has recorded, and allocates the file. Without one, records live as long as the
    /// process.
    init(file: URL?) {
        self.file = file
        guard let file else { return }
        let bytes = (try? Data(contentsOf: file)).map { Array($0) } ?? []
        for start in stride(from: 0, to: bytes.count - Self.slotBytes + 1, by: Self.slotBytes) {
            let number = Self.word(bytes[start..<(start + 8)])
            let check = Self.word(bytes[(start + 8)..<(start + Self.slotBytes)])
            guard number != 0 || check != 0 else { continue }
            self.free = start / Self.slotBytes + 1
            if number ^ Self.mask == check { self.numbers.append(Int64(bitPattern: number)) }
        }
        if bytes.count != Self.max * Self.slotBytes { try? self.clear() }
    }

    mutating func append(_ number: Int64) throws {
        guard !self.numbers.contains(number) else { return }
        self.numbers.append(number)
        guard let file = self.file else { return }
        guard self.free < Self.max else { throw CocoaError(.fileWriteOutOfSpace) }
        let word = UInt64(bitPattern: number)
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(self.free * Self.slotBytes))
        let slot = [word.littleEndian, (word ^ Self.mask).littleEndian]
        try handle.write(contentsOf: slot.withUnsafeBytes { Data($0) })
        try handle.synchronize()
        self.free += 1
    }

    mutating func removeAll() throws {
        self.numbers = []
        self.free = 0
        try self.clear()
    }

    private func clear() throws {
        guard let file = self.file else { return }
        let empty = Data(count: Self.max * Self.slotBytes)
        guard FileManager.default.fileExists(atPath: file.path) else { return try empty.write(to: file) }
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        try handle.write(contentsOf: empty)
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
