import Foundation
import GRDB
import Requirements
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A database of any bytes` {
    private static func seeds(in folder: TemporaryFolder) async throws -> [Data] {
        var seeds: [Data] = []
        // The last one is about apps and operators.
        for seed in [0, 1, 2, 3, 5] as [UInt64] {
            var generator = CommandGenerator(seed: seed)
            let name = "seed-\(seed).sqlite"
            var configuration = MessageStoreConfiguration()
            configuration.journalRowBytes = 400
            configuration.machine.logChunkBytes = 60
            configuration.pageBytes = 1_024
            let store = try MessageStore(path: folder.path(name), configuration: configuration, logger: quiet)
            for _ in 0..<40 { _ = try await store.apply((0..<5).map { _ in generator.next() }) }
            store.close()
            seeds.append(try Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
        }
        return seeds
    }

    /// Opens it, reads everything, goes on with it, and opens it again.
    /// - Returns: why it could not be opened.
    private func visit(_ path: String, seed: Int) async -> MessageStoreError? {
        var generator = CommandGenerator(seed: UInt64(seed))
        for _ in 0..<2 {
            do {
                let store = try MessageStore(path: path, logger: quiet)
                _ = try? await store.dump()
                for _ in 0..<3 { _ = try? await store.apply((0..<8).map { _ in generator.next() }) }
                store.close()
            } catch {
                return error
            }
        }
        return nil
    }

    @Test func `with bytes turned over is read or refused, and left alone if it is refused`() async throws {
        let folder = try TemporaryFolder()
        let seeds = try await Self.seeds(in: folder)
        let url = URL(fileURLWithPath: folder.path())
        try await Fuzz.run("database files", short: 150, long: 6_000) { number in
            var chance = Chance(seed: UInt64(number))
            var data = chance.pick(seeds)
            for _ in 0...chance.below(chance.below(4) == 0 ? 200 : 5) {
                // The first page says what the file is; the others hold what is in it.
                data[chance.below(20) == 0 ? chance.below(100) : chance.below(data.count)] = UInt8(chance.below(256))
            }
            if chance.below(10) == 0 { data = data.prefix(chance.below(data.count)) }
            folder.delete()
            try data.write(to: url)
            let store = try? MessageStore(path: folder.path(), logger: quiet)
            store?.abandon()
            if store == nil {
                // SQLite's own header is brought up to date where its journal mode was what had turned over.
                let left = try Data(contentsOf: url)
                #expect(left.dropFirst(100) == data.dropFirst(100), "seed \(number) was changed")
            } else {
                _ = await self.visit(folder.path(), seed: number)
            }
        }
    }

    @Test func `with values nobody has written is read or refused`() async throws {
        let folder = try TemporaryFolder()
        let seeds = try await Self.seeds(in: folder)
        try await Fuzz.run("values in databases", short: 150, long: 6_000) { number in
            var chance = Chance(seed: UInt64(number))
            folder.delete()
            try chance.pick(seeds).write(to: URL(fileURLWithPath: folder.path()))
            let database = try DatabaseQueue(path: folder.path())
            for _ in 0...chance.below(3) { try Self.spoil(database, &chance) }
            try database.close()
            _ = await self.visit(folder.path(), seed: number)
        }
    }

    private static func spoil(_ queue: DatabaseQueue, _ chance: inout Chance) throws {
        var drawn = chance
        try queue.writeWithoutTransaction { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            let table = drawn.pick(tables)
            let column = drawn.pick(try database.columns(in: table).map(\.name))
            let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
            guard count > 0 else { return }
            let order = try database.columns(in: table).map(\.name).joined(separator: ", ")
            let row = try Row.fetchOne(
                database, sql: "SELECT * FROM \(table) ORDER BY \(order) LIMIT 1 OFFSET \(drawn.below(count))")
            guard let row, let old = row[column] as (any DatabaseValueConvertible)? else { return }
            let value = Self.another(old.databaseValue, &drawn)
            let place = try database.columns(in: table).map { "\($0.name) IS ?" }.joined(separator: " AND ")
            // A value the table's own rules refuse, or that is there already.
            try? database.execute(
                sql: "UPDATE OR IGNORE \(table) SET \(column) = ? WHERE \(place)",
                arguments: [value] + StatementArguments(row.databaseValues))
        }
        chance = drawn
    }

    private static func another(_ value: DatabaseValue, _ chance: inout Chance) -> DatabaseValue {
        switch value.storage {
        case .blob(let data):
            var bytes = Array(data)
            if bytes.isEmpty { bytes = chance.bytes(3) }
            for _ in 0...chance.below(3) { chance.mutate(&bytes) }
            return Data(bytes).databaseValue
        case .string(let text): return chance.pick(["", "x", text + "x", "PR", "\u{0}"]).databaseValue
        case .int64, .double, .null:
            let numbers: [Int64] = [-1, 0, 1, 2, 7, 1 << 33, 1 << 62, .max, .min, .max - 1]
            return chance.pick(numbers).databaseValue
        }
    }

    @Test func `has records and logs of any bytes`() throws {
        let bytes = try Self.rows()
        Fuzz.run("journal rows and logs", short: 6_000, long: 300_000) { number in
            var chance = Chance(seed: UInt64(number))
            var row = chance.pick(bytes)
            for _ in 0...chance.below(4) { chance.mutate(&row) }
            row.withUnsafeBytes { buffer in
                try? JournalRow.read(buffer) { _ in true }
                _ = try? LogChunk(first: UInt64(chance.below(9)), stored: buffer)
                var settings = ByteReader(buffer)
                _ = try? settings.read() as AllSettings
            }
        }
    }

    private static func rows() throws -> [[UInt8]] {
        var generator = CommandGenerator(seed: 1)
        var rows: [[UInt8]] = []
        var row = JournalRow()
        for _ in 0..<300 {
            guard case .accept(let message, let device, _, _, _, _) = generator.next() else { continue }
            row.append(.accept(message, senderDevice: device, version: 3))
            rows.append(row.bytes)
            if row.count > 3 { row.removeAll() }
        }
        row.removeAll()
        var control = ControlState()
        generator = CommandGenerator(seed: 5)
        for _ in 0..<300 {
            guard case .changeControl(let change, let at) = generator.next(),
                case .app(let app)? = try? control.apply(change, at: at)
            else { continue }
            row.append(.control(ControlEntry(.app(app), change.audited(number: 1, at: at))))
            rows.append(row.bytes)
            row.removeAll()
        }
        var chunk = LogChunk(first: 3)
        for index in 0..<9 as Range<UInt64> {
            chunk.append(
                LogChunk.Entry(
                    record: 5 + index * 3, conversation: ConversationNumber(type: .direct, number: 7), counts: true,
                    earlier: index, unread: Int(index)))
            rows.append(chunk.bytes)
        }
        return rows
    }
}
