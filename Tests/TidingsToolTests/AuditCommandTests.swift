import Testing
import TidingsModel

@testable import tidings

@Suite struct `Who has changed what as a table` {
    private static func record(
        _ kind: String, _ name: String, _ address: String, _ action: String, app: JSONValue, _ subject: String,
        _ outcome: String = "done"
    ) -> JSONValue {
        [
            "number": 1, "at": 1_767_225_600_000, "actor": ["kind": .string(kind), "name": .string(name)],
            "address": .string(address), "action": .string(action), "app": app, "subject": .string(subject),
            "outcome": .string(outcome),
        ]
    }

    @Test func `has a line for each record, with a dash for what there is not`() {
        let lines = AuditCommand.lines([
            Self.record("operator", "anna", "192.0.2.1", "POST pushes", app: "chat", "01qdq6qdr0000"),
            Self.record("operator", "anna", "192.0.2.1", "remove_operator", app: .null, "anna", "not_allowed"),
            Self.record("command_line", "", "", "add_operator", app: .null, "anna"),
            Self.record("configuration", "", "", "import_app", app: "chat", ""),
        ])
        #expect(
            lines == [
                "time                         who              from       what             app   of what        outcome",
                "2026-01-01 00:00:00.000 UTC  anna             192.0.2.1  POST pushes      chat  01qdq6qdr0000  done",
                "2026-01-01 00:00:00.000 UTC  anna             192.0.2.1  remove_operator  -     anna           "
                    + "refused: not_allowed",
                "2026-01-01 00:00:00.000 UTC  (command line)   -          add_operator     -     anna           done",
                "2026-01-01 00:00:00.000 UTC  (configuration)  -          import_app       chat  -              done",
            ])
    }

    @Test func `says so if there is none`() {
        #expect(AuditCommand.lines([]) == ["nothing is kept of this"])
    }
}
