/// The one vocabulary of scripts for a phone and of scenarios: how a line of a script stands as a step with a key.
package enum StepWords {
    /// What follows both words is the same in both where the step ends with a colon.
    private static let all: [(line: String, step: String)] = [
        ("home", "person: home"), ("lock", "person: lock"), ("unlock", "person: unlock"), ("open", "person: open"),
        ("force-quit", "person: forceQuit"), ("cover on", "person: overlayAppears"),
        ("cover off", "person: overlayDisappears"), ("kill", "system: kill"), ("freeze", "system: freeze"),
        ("memory", "system: lowMemory"), ("restart", "system: restart"), ("allow", "prompt: allow"),
        ("deny", "prompt: deny"), ("view", "panel: view"), ("close", "panel: close"),
        ("answer-call", "call: answer"), ("decline-call", "call: decline"), ("focus on", "focus: timeSensitive"),
        ("airplane", "airplaneMode:"), ("low-power", "lowPowerMode:"), ("alert-style", "alertStyle:"),
    ]
    private static let nothing: Set = ["", "yes", "true", "~", "null"]

    /// Returns the step that a line stands for, `airplaneMode: on` for `airplane on`; nil for a line that is written alike in both, as `tap m`.
    package static func step(of word: String, _ rest: String) -> String? {
        let line = self.nothing.contains(rest) ? word : "\(word) \(rest)"
        for pair in self.all {
            if pair.step.last != ":", pair.line == line { return pair.step }
            if pair.step.last == ":", pair.line == word { return "\(pair.step) \(rest)" }
        }
        return nil
    }

    /// Returns the line of a script for a step, `lock` for `person: lock` and for `lock: yes`; nil where the key is the word.
    package static func line(of key: String, _ rest: String) -> String? {
        for pair in self.all {
            if pair.step == "\(key): \(rest)" { return pair.line }
            if pair.step == key + ":" { return "\(pair.line) \(rest)" }
            if pair.step.last != ":", pair.line == key, self.nothing.contains(rest) { return pair.line }
        }
        return nil
    }
}
