package import TidingsModel
package import VirtualPhone

package enum PhoneTerminal {
    package enum Mode: Sendable {
        case screen
        case script(Script)
        case lines
    }

    /// `screen` on a terminal, else `lines`. Throws if the terminal is too small.
    package static func mode() throws(InvalidField) -> Mode {
        guard let device = TerminalDevice() else { return .lines }
        guard device.size.isEnough else { throw InvalidField(field: "terminal:", rule: device.size.refusal) }
        return .screen
    }

    /// Returns when a person, a signal, the script or the control channel ends it: 1 if an expectation of a script
    /// failed, 128 and the signal's number if a signal ended a script, else 0. The caller switches the phone off.
    package static func run(_ phone: PhoneHost, title: String, mode: Mode) async -> Int32 {
        switch mode {
        case .screen:
            guard let device = TerminalDevice() else { return await LinesSession(phone: phone).run() }
            return await ScreenSession(phone: phone, device: device, title: title).run()
        case .script(let script): return await ScriptSession(phone: phone, title: title, script: script).run()
        case .lines: return await LinesSession(phone: phone).run()
        }
    }
}

extension PhoneHost {
    func snapshot() async throws(InvalidField) -> PhoneSnapshot {
        let (screen, views) = try await self.look()
        var snapshot = PhoneSnapshot(screen: screen)
        snapshot.views = views
        return snapshot
    }

    func trace(after number: Int) async throws(InvalidField) -> [JSONValue] {
        try await self.perform(.trace(after: number))["events"]?.arrayValue ?? []
    }
}
