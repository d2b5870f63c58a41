public import Testing

/// Marks a test as holding a requirement of docs/inside/requirements.md: it fails when the requirement is broken.
///
/// A check in `TidyTests` reads these marks from the sources: every row of the page needs a test, every mark a row, and a
/// test may hold three rows at most, so that its failure says what broke.
public struct RequirementTrait: TestTrait, SuiteTrait {
    /// The numbers, such as `S0.4`.
    public let rows: [String]

    /// Marks are read by people and by the check; they do not change how a test runs.
    public var isRecursive: Bool { true }

    /// The numbers as they stand in a test's comments.
    public var comments: [Comment] { [Comment(rawValue: "holds " + self.rows.joined(separator: ", "))] }
}

extension Trait where Self == RequirementTrait {
    /// Holds one to three requirements, by their numbers in docs/inside/requirements.md.
    public static func requirement(_ row: String, _ more: String...) -> Self { RequirementTrait(rows: [row] + more) }
}
