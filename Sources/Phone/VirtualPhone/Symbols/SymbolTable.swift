import Foundation

/// One file of code as the operating system loaded it (proc(5), `/proc/pid/maps`).
struct LoadedImage {
    let path: String
    let base: UInt64

    /// nil for memory that belongs to no file.
    init?(containing address: UInt64) {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return nil }
        var path: String?
        var base: UInt64 = 0
        for line in maps.split(separator: "\n") {
            let columns = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = columns[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard columns.count == 6, ends.count == 2 else { continue }
            let file = String(columns[5].drop { $0 == " " })
            if columns[2] == "00000000", file != path {
                path = file
                base = ends[0]
            }
            if file == path, ends[0] <= address, address < ends[1] {
                self.path = file
                self.base = base
                return
            }
        }
        return nil
    }
}

/// The symbols of a 64-bit ELF file (elf(5)).
struct SymbolTable {
    private let file: Data
    private let symbols: Range<Int>
    private let names: Range<Int>

    /// nil without a symbol table, as after `strip`.
    init?(path: String) {
        guard let file = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped), file.count > 64,
            file.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1])
        else { return nil }
        self.file = file
        // e_shoff, e_shentsize, e_shnum.
        let table = Int(Self.number(file, 40, as: UInt64.self))
        let size = Int(Self.number(file, 58, as: UInt16.self))
        let count = Int(Self.number(file, 60, as: UInt16.self))
        guard size >= 64, table + size * count <= file.count else { return nil }
        func section(_ index: Int) -> (type: UInt32, link: Int, range: Range<Int>) {
            let start = table + index * size
            let offset = Int(Self.number(file, start + 24, as: UInt64.self))
            let length = Int(Self.number(file, start + 32, as: UInt64.self))
            return (
                Self.number(file, start + 4, as: UInt32.self), Int(Self.number(file, start + 40, as: UInt32.self)),
                offset..<(offset + length)
            )
        }
        // SHT_SYMTAB is 2; its link is the table of names.
        guard let found = (0..<count).map(section).first(where: { $0.type == 2 }), found.link < count else {
            return nil
        }
        let names = section(found.link).range
        // The last name must end within the file.
        guard found.range.upperBound <= file.count, found.range.count >= 24, names.upperBound <= file.count,
            !names.isEmpty, file[names.upperBound - 1] == 0
        else { return nil }
        self.symbols = found.range
        self.names = names
    }

    func names(ofValue value: UInt64) -> [String] { self.names { $1 == value } }

    func names(withPrefix prefix: String) -> [String] {
        let length = prefix.utf8.count
        return prefix.withCString { text in self.names { name, _ in strncmp(name, text, length) == 0 } }
    }

    /// Plain C calls over mapped memory: a test executable has hundreds of thousands of symbols.
    private func names(where isWanted: (UnsafePointer<CChar>, UInt64) -> Bool) -> [String] {
        self.file.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return [] }
            var found: [String] = []
            var symbol = start + self.symbols.lowerBound
            let end = start + (self.symbols.upperBound - 23)
            let room = self.names.count
            while symbol < end {
                let place = Int(symbol.loadUnaligned(as: UInt32.self))
                let value = symbol.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                if place < room {
                    let name = (start + self.names.lowerBound + place).assumingMemoryBound(to: CChar.self)
                    if isWanted(name, value) { found.append(String(cString: name)) }
                }
                symbol += 24
            }
            return found
        }
    }

    private static func number<Number: FixedWidthInteger>(_ file: Data, _ offset: Int, as type: Number.Type) -> Number {
        file.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }
}
