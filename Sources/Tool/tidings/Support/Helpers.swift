import ArgumentParser
import TidingsModel

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

/// Returns a number with its noun, in the plural unless it is one.
func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns the milliseconds since 1970 that an option's text says; nil without one.
func milliseconds(_ name: String, _ text: String?) throws -> Int64? {
    guard let text else { return nil }
    guard let time = Int64(text) ?? GivenTime.read(text), time >= 0 else {
        throw ValidationError(
            "\(name) must be a time such as 2026-11-27T09:30:00Z, or milliseconds since 1970, got \"\(text)\"")
    }
    return time
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
