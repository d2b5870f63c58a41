package import TidingsModel

/// A phone on a terminal, by script, or as lines.
package enum PhoneTerminal {
    /// How a phone is shown.
    package enum Mode: Sendable {
        /// On a terminal, with keys.
        case screen
        /// By a script, unattended.
        case script(Script)
        /// Its trace as lines, until it is ended.
        case lines
    }

    /// The mode for standard input and output as they are: `screen` on a terminal, else `lines`.
    ///
    /// - Throws: `InvalidField` if the terminal is too small for a phone.
    package static func mode() throws(InvalidField) -> Mode {
        guard let device = TerminalDevice() else { return .lines }
        guard device.size.isEnough else { throw InvalidField(field: "terminal:", rule: device.size.refusal) }
        return .screen
    }

    /// Shows a phone until it is ended by a person, a signal, its script or its control channel.
    ///
    /// - Parameters:
    ///   - phone: the phone, switched on; who calls switches it off.
    ///   - title: its name for the screen.
    ///   - mode: how.
    /// - Returns: the exit status: 1 if an expectation of a script failed, 128 and its number if a signal ended a script.
    package static func run(_ phone: HostedPhone, title: String, mode: Mode) async -> Int32 {
        switch mode {
        case .screen:
            guard let device = TerminalDevice() else { return await LinesSession(phone: phone).run() }
            return await ScreenSession(phone: phone, device: device, title: title).run()
        case .script(let script): return await ScriptSession(phone: phone, title: title, script: script).run()
        case .lines: return await LinesSession(phone: phone).run()
        }
    }
}
