import ArgumentParser

/// Runs `cleanUp` after `body`, also when it throws.
func withCleanUp<Value>(
    _ cleanUp: () async -> Void, _ body: () async throws -> Value
) async throws -> Value {
    do {
        let value = try await body()
        await cleanUp()
        return value
    } catch {
        await cleanUp()
        throw error
    }
}

func check<Value: Comparable>(_ name: String, _ value: Value, in range: ClosedRange<Value>) throws {
    guard !range.contains(value) else { return }
    throw ValidationError("\(name) must be \(range.lowerBound) to \(range.upperBound), got \(value)")
}

/// Splits texts such as `name=value`, the values of `option`.
func pairs(_ texts: [String], of option: String, _ form: String) throws -> [String: String] {
    var pairs: [String: String] = [:]
    for text in texts {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw ValidationError("\(option) must be \(form), got \"\(text)\"")
        }
        pairs[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    return pairs
}
