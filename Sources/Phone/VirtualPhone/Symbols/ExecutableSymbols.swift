import Foundation
import Synchronization

/// Which functions a class has, read from the symbol table of the running executable: Linux has no Objective-C
/// runtime to ask, and a protocol extension's default hides whether a method was written. Every function of a class
/// begins with the class's mangled name, which is found by the address of the class's metadata. A stripped executable
/// has no table and an inlined function no symbol: a name that is there proves the method, a missing one proves
/// nothing.
enum ExecutableSymbols {
    private static let functions = Mutex<[ObjectIdentifier: [String]]>([:])

    /// Includes the superclasses'; empty without a symbol table.
    static func functions(of object: AnyObject) -> [String] {
        var classes: [AnyClass] = [type(of: object)]
        var mirror = Mirror(reflecting: object).superclassMirror
        while let current = mirror {
            if let type = current.subjectType as? AnyClass { classes.append(type) }
            mirror = current.superclassMirror
        }
        return classes.flatMap(self.functions(ofClass:))
    }

    private static func functions(ofClass type: AnyClass) -> [String] {
        let key = ObjectIdentifier(type)
        if let known = self.functions.withLock({ $0[key] }) { return known }
        let names = self.read(type)
        self.functions.withLock { $0[key] = names }
        return names
    }

    private static func read(_ type: AnyClass) -> [String] {
        let metadata = UInt64(UInt(bitPattern: unsafeBitCast(type, to: UnsafeRawPointer.self)))
        guard let image = LoadedImage(containing: metadata), let file = SymbolTable(path: image.path) else { return [] }
        // The metadata's symbol is the class's mangled name and "N" (docs/ABI/Mangling of the Swift compiler).
        guard
            let metadataName = file.names(ofValue: metadata - image.base)
                .first(where: { $0.hasPrefix("$s") && $0.hasSuffix("CN") })
        else { return [] }
        return file.names(withPrefix: String(metadataName.dropLast())).filter { $0.hasSuffix("F") }
            .compactMap { Self.demangled($0) }.sorted()
    }

    @_silgen_name("swift_demangle")
    private static func swift_demangle(
        _ name: UnsafePointer<CChar>?, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
        _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
    ) -> UnsafeMutablePointer<CChar>?

    private static func demangled(_ name: String) -> String? {
        guard let text = name.withCString({ self.swift_demangle($0, UInt(name.utf8.count), nil, nil, 0) }) else {
            return nil
        }
        defer { free(text) }
        return String(cString: text)
    }
}
