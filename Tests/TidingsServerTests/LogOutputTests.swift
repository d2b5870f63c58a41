import Foundation
import Logging
import Metrics
import NIOConcurrencyHelpers
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(5))) struct `The output of log lines` {
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() {
            signal(SIGPIPE, SIG_IGN)
            var ends: [Int32] = [0, 0]
            _ = pipe(&ends)
            (self.reading, self.writing) = (ends[0], ends[1])
        }

        /// What comes out of the pipe until all of it is enough; less if nothing more comes for a minute.
        func text(until isEnough: (String) -> Bool) -> String {
            var text = ""
            var part = [UInt8](repeating: 0, count: 65_536)
            while !isEnough(text) {
                var wait = pollfd(fd: self.reading, events: Int16(POLLIN), revents: 0)
                guard poll(&wait, 1, 60_000) > 0 else { break }
                let count = read(self.reading, &part, part.count)
                guard count > 0 else { break }
                text += String(decoding: part[..<count], as: UTF8.self)
            }
            return text
        }
    }

    private func line(_ number: Int) -> String {
        "line \(number) " + String(repeating: "x", count: 1_000) + "\n"
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n").filter { $0.hasPrefix("line ") }
    }

    @Test func `drops and counts what does not fit while nobody reads, and says so afterwards`() {
        let pipe = Pipe()
        let output = LogOutput(descriptor: pipe.writing)
        let registry = PrometheusRegistry()
        output.countDrops(with: Counter(label: "dropped", factory: registry))
        output.setDropNotice { "DROPPED \($0)\n" }
        // The pipe and the queue are full long before the end.
        for number in 0..<1_000 { output.write(self.line(number)) }
        let dropped = output.dropped
        #expect(dropped > 0)
        #expect(registry.text.contains("dropped_total \(dropped)\n"))
        let text = pipe.text { $0.contains("DROPPED") && Self.lines($0).count >= 1_000 - dropped && $0.hasSuffix("\n") }
        #expect(text.contains("DROPPED \(dropped)\n"))
        output.write("after\n")
        #expect(pipe.text { $0.hasSuffix("after\n") }.hasSuffix("after\n"))
        let lines = Self.lines(text)
        #expect(lines.count == 1_000 - dropped, "every other line is there")
        // What was first is kept.
        #expect(lines.first?.hasPrefix("line 0 ") == true)
    }

    @Test func `goes on when the reader of the pipe has gone`() {
        let pipe = Pipe()
        let output = LogOutput(descriptor: pipe.writing)
        close(pipe.reading)
        for number in 0..<10 { output.write(self.line(number)) }
        output.flush()
        #expect(output.dropped == 10)
    }

    @Test func `goes on when the disk is full`() {
        let output = LogOutput(descriptor: open("/dev/full", O_WRONLY))
        output.write("one\n")
        output.write("two\n")
        output.flush()
        #expect(output.dropped == 2)
    }

    @Test func `waits for a pipe that must not block, and writes each line whole`() {
        let pipe = Pipe()
        _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
        let output = LogOutput(descriptor: pipe.writing)
        for number in 0..<200 { output.write(self.line(number)) }
        let text = pipe.text { $0.contains("line 199 ") && $0.hasSuffix("\n") }
        #expect(output.dropped == 0)
        #expect(text == (0..<200).map(self.line).joined())
    }

    @Test func `is flushed for a bounded time only`() {
        let pipe = Pipe()
        let output = LogOutput(descriptor: pipe.writing)
        for number in 0..<200 { output.write(self.line(number)) }
        // Nobody reads: it returns all the same.
        output.flush(milliseconds: 50)
        _ = pipe.text { $0.contains("line 199 ") && $0.hasSuffix("\n") }
        output.flush()
        #expect(output.dropped == 0)
    }

    @Test(arguments: [LineLogHandler.Format.text, .json])
    func `has one line for each call, and nothing in it steers a terminal`(format: LineLogHandler.Format) throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { label in
            LineLogHandler(label: label, format: format, level: .debug) { line in
                lines.withLockedValue { $0.append(line) }
            }
        }
        let user = "bo\u{1b}[2J\u{9b}31m\u{202e}\u{2028}\u{85}\r\n2026 notice signed in\u{e0041}"
        logger.notice("told \(user)", metadata: ["user": "\(user)", "list": ["\(user)"]])
        let line = try #require(lines.withLockedValue { $0.count == 1 ? $0[0] : nil })
        #expect(line.hasSuffix("\n"))
        #expect(!line.dropLast().unicodeScalars.contains { $0.isUnprintable })
        switch format {
        case .text: #expect(line.contains(" user=bo\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{2028}\\u{85}\\u{d}\\u{a}2026"))
        case .json: #expect(try JSONValue(parsing: Array(line.utf8))["user"]?.stringValue == user)
        }
    }

    @Test func `that is a file is appended to, for its owner alone`() async throws {
        try await TestServer.withFolder { folder in
            let path = folder + "/audit.log"
            for text in ["one\n", "two\n"] {
                let output = try LogOutput(appendingTo: path)
                output.write(text)
                output.flush()
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\ntwo\n")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(throws: ConfigurationFault.self) { try LogOutput(appendingTo: folder + "/missing/audit.log") }
        }
    }
}
