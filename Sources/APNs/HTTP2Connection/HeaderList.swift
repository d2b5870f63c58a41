/// The fields of a request or response that was received, in their order.
package struct HeaderList: Hashable, Sendable, Sequence {
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
        /// True if name and value are valid and mean nothing to HTTP/2 itself: most are, and need no further look.
        let isPlain: Bool

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
            self.isPlain = FieldRules.isPlain(name, value)
        }
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(_ fields: [(String, String)]) { self.fields = fields.map { Field($0.0, $0.1) } }

    mutating func append(_ field: Field) { self.fields.append(field) }
    mutating func reserveCapacity(_ count: Int) { self.fields.reserveCapacity(count) }

    package var count: Int { self.fields.count }

    /// The value of the first field of this name.
    package func first(name: String) -> String? { self.fields.first { $0.name == name }?.value }

    /// The fields one after the other.
    package func makeIterator() -> IndexingIterator<[Field]> { self.fields.makeIterator() }
}
