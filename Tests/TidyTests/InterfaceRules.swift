/// What the SDK's views must leave to the person: text size, appearance and the direction of writing (docs/decisions/0041-views.md).
enum InterfaceRules {
    static let target = "TidingsUI"

    /// Words, and what is used instead.
    private static let refused: [String: String] = [
        "systemFont": "a text style", "boldSystemFont": "a text style", "italicSystemFont": "a text style",
        "monospacedSystemFont": "a text style", "leftAnchor": "leadingAnchor", "rightAnchor": "trailingAnchor",
        "leftMargin": "leadingAnchor", "rightMargin": "trailingAnchor", "UIEdgeInsets": "NSDirectionalEdgeInsets",
        "UICollectionView": "a table view", "UICollectionViewController": "a table view",
        "heightForRowAt": "heights that the content makes",
        "heightForHeaderInSection": "heights that the content makes",
        "heightForFooterInSection": "heights that the content makes",
    ]
    private static let constants: Set = [
        "equalToConstant", "greaterThanOrEqualToConstant", "lessThanOrEqualToConstant",
    ]
    private static let heights: Set = ["rowHeight", "sectionHeaderHeight", "sectionFooterHeight"]
    /// Members of whatever type, after a dot.
    private static let refusedMembers: [String: String] = [
        "left": "a natural alignment or a leading edge", "right": "a natural alignment or a trailing edge",
        "black": "a colour by its use", "white": "a colour by its use",
    ]

    static let all = Rule(name: "the SDK's views have text styles, colours by use, and leading and trailing edges") {
        source in
        guard source.isSwift, source.target == Self.target else { return [] }
        var findings = source.code.indices.flatMap { Self.findings(at: $0, in: source) }
        let words = source.code.map(\.text)
        if let style = source.code.first(where: { $0.is("preferredFont") }),
            !words.contains("adjustsFontForContentSizeCategory")
        {
            findings.append(source.finding(style, "a text that does not grow when the person changes its size"))
        }
        return findings + Self.unspokenButtons(in: source) + Self.brokenCells(in: source)
    }

    private static func findings(at index: Int, in source: Source) -> [Finding] {
        let code = source.code
        let token = code[index]
        guard token.kind == .word else { return [] }
        func follows(_ words: [String]) -> Bool {
            index + words.count < code.count && words.indices.allSatisfy { code[index + 1 + $0].is(words[$0]) }
        }
        if let instead = Self.refused[token.text] {
            return [source.finding(token, "`\(token.text)`: take \(instead)")]
        }
        if index > 0, code[index - 1].is("."), let instead = Self.refusedMembers[token.text] {
            return [source.finding(token, "`.\(token.text)`: take \(instead)")]
        }
        if token.is("UIFont"), follows(["("]) { return [source.finding(token, "a fixed font: take a text style")] }
        if token.is("UIColor"), follows(["("]) { return [source.finding(token, "a fixed colour: take one by its use")] }
        // A number there does not grow with the text.
        if Self.constants.contains(token.text), follows([":"]), index + 2 < code.count, code[index + 2].kind == .number
        {
            return [source.finding(token, "a fixed length: take one that grows with the text")]
        }
        if Self.heights.contains(token.text), follows(["="]), index + 2 < code.count, code[index + 2].kind == .number {
            return [source.finding(token, "a fixed height: take `UITableView.automaticDimension`")]
        }
        return []
    }

    // MARK: VoiceOver

    /// A button with an image alone says nothing: it needs a title or an `accessibilityLabel`.
    private static func unspokenButtons(in source: Source) -> [Finding] {
        let code = source.code
        return code.indices.compactMap { index in
            let token = code[index]
            guard index + 1 < code.count, code[index + 1].is("(") else { return nil }
            switch token.text {
            case "setImage":
                let button = Self.receiver(before: index, in: code)
                let isSpoken =
                    Self.says("setTitle", of: button, in: code) || Self.says("accessibilityLabel", of: button, in: code)
                return isSpoken ? nil : source.finding(token, "a button with an image and no words for VoiceOver")
            case "UIBarButtonItem":
                let labels = Self.labels(after: index + 1, in: code)
                guard labels["image"] != nil, !Self.isWritten(labels["title"]), labels["customView"] == nil else {
                    return nil
                }
                let item = index > 1 && code[index - 1].is("=") ? Self.receiver(before: index, in: code) : []
                guard item.isEmpty || !Self.says("accessibilityLabel", of: item, in: code) else { return nil }
                return source.finding(token, "a bar button with an image and no words for VoiceOver")
            case "UIAction", "UIContextualAction":
                let labels = Self.labels(after: index + 1, in: code)
                guard labels["image"] != nil, !Self.isWritten(labels["title"]) else { return nil }
                return source.finding(token, "an action with an image and no title")
            default: return nil
            }
        }
    }

    /// Several labels in a cell are read one by one, unless the cell, or a view in it, is read as one.
    private static func brokenCells(in source: Source) -> [Finding] {
        let code = source.code
        return code.indices.compactMap { index in
            guard code[index].is("class"), index + 3 < code.count, code[index + 2].is(":"),
                code[index + 3].is("UITableViewCell"),
                let open = code[index...].firstIndex(where: { $0.is("{") })
            else { return nil }
            let body = code[open..<Self.end(of: open, in: code)]
            // `MessageCell.label(…)` makes one too.
            let labels = body.indices.count { place in
                (body[place].is("UILabel") || body[place].is("label") && !code[place - 1].is("func"))
                    && place + 1 < code.count && code[place + 1].is("(")
            }
            func assigns(_ member: String, _ value: String?) -> Bool {
                body.indices.contains { place in
                    place + 2 < code.count && body[place].is(member) && code[place + 1].is("=")
                        && (value.map { code[place + 2].is($0) } ?? true)
                }
            }
            guard labels > 1, !assigns("isAccessibilityElement", "true") || !assigns("accessibilityLabel", nil) else {
                return nil
            }
            return source.finding(code[index + 1], "a cell of several labels that VoiceOver does not read as one")
        }
    }

    // MARK: Tokens

    /// The words before a dot, or before `=`, without `self`: `self.a.b` is `a`, `b`.
    private static func receiver(before index: Int, in code: [Token]) -> [String] {
        var place = index - 1
        if place >= 0, code[place].is("=") || code[place].is(".") { place -= 1 }
        var words: [String] = []
        while place >= 0, code[place].kind == .word || code[place].is("?") {
            if code[place].kind == .word { words.insert(code[place].text, at: 0) }
            place -= 1
            guard place >= 0, code[place].is(".") || code[place + 1].is("?") else { break }
            if code[place].is(".") { place -= 1 }
        }
        return words.first == "self" ? Array(words.dropFirst()) : words
    }

    /// Whether somewhere in the file a member of a view is named: `button.accessibilityLabel`.
    private static func says(_ member: String, of view: [String], in code: [Token]) -> Bool {
        code.indices.contains { index in
            code[index].is(member) && index > 0 && code[index - 1].is(".")
                && Self.receiver(before: index, in: code) == view
        }
    }

    /// The first token of each argument by its label. `index` is that of the parenthesis.
    static func labels(after index: Int, in code: [Token]) -> [String: Token] {
        var found: [String: Token] = [:]
        var depth = 0
        for place in index..<code.count {
            if code[place].is("(") || code[place].is("[") || code[place].is("{") { depth += 1 }
            if code[place].is(")") || code[place].is("]") || code[place].is("}") { depth -= 1 }
            if depth == 0 { break }
            guard depth == 1, place + 2 < code.count, code[place].kind == .word, code[place + 1].is(":"),
                code[place - 1].is("(") || code[place - 1].is(",")
            else { continue }
            found[code[place].text] = code[place + 2]
        }
        return found
    }

    private static func isWritten(_ title: Token?) -> Bool {
        title.map { !$0.is("nil") && $0.text != "\"\"" } ?? false
    }

    /// Past the bracket that closes the one at a place.
    static func end(of open: Int, in code: [Token]) -> Int {
        var depth = 0
        for place in open..<code.count {
            if code[place].is("{") || code[place].is("(") || code[place].is("[") { depth += 1 }
            if code[place].is("}") || code[place].is(")") || code[place].is("]") { depth -= 1 }
            if depth == 0 { return place + 1 }
        }
        return code.count
    }
}
