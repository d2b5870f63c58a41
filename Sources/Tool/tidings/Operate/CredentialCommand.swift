import APNsClient
import APNsModel
import ArgumentParser
import Foundation
import Logging
import TidingsModel

struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "Look at push credentials, and ask APNs about them.",
        discussion: "Needs no server. Nothing is kept, and neither key nor password is ever printed.",
        subcommands: [Inspect.self, Prove.self])

    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what a credential's file holds, and what is wrong with it.",
            discussion: """
                Says kind, ids, topics, environments, dates and fingerprint as far as the file has them; what a key may send stands \
                nowhere in its file. Exits with status 1 for a file that APNs would not take, for example an expired certificate.
                """)
        @OptionGroup var options: CredentialOptions
        @Flag(help: "Print one JSON object instead of lines.") var json = false

        func run() async throws {
            let facts = try self.options.read().facts
            let now = Int64(Date().timeIntervalSince1970 * 1_000)
            if self.json { print(facts.json(at: now)) } else { CredentialLines(facts).lines.forEach { print($0) } }
            guard let fault = facts.fault(at: now) else { return }
            if self.json { throw ExitCode.failure }
            throw ToolFailure("\(fault)")
        }
    }

    struct Prove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask APNs whether a credential is good: one push to a device token that nobody has.",
            discussion: """
                APNs answers BadDeviceToken once it has taken the credential, on a connection of its own for each environment. That \
                the topic is yours shows only a push that is accepted, for which --token gives the device token of a phone with the \
                app; it shows nothing there. Exits with status 0 only if the credential is proven in every environment asked.
                """)
        @OptionGroup var options: CredentialOptions
        @Option(help: "The topic, a bundle identifier; a certificate's own if left out.") var topic: String?
        @Option(help: "sandbox or production; give it again to ask both.") var environment: [PushEnvironment]
        @Option(help: "The device token of a phone that has the app, in one environment.") var token: String?
        @Option(help: "Name or address of the server, in one environment; Apple's if left out.") var host: String?
        @Option(help: "Its port.") var port = 443
        @Option(help: "PEM file with the authorities its certificate may come from; the system's if left out.")
        var trustRoots: String?
        @Option(help: "How long each environment may take to answer, in seconds.") var seconds = 10
        @Flag(help: "Print one JSON object instead of lines.") var json = false

        func validate() throws {
            try check("--port", self.port, in: 1...65_535)
            try check("--seconds", self.seconds, in: 1...600)
            guard Set(self.environment).count == self.environment.count else {
                throw ValidationError("--environment must not be given twice with the same value")
            }
            guard self.environment.count == 1 || (self.host == nil && self.port == 443 && self.token == nil) else {
                throw ValidationError("--host, --port and --token are of one environment: ask the other one by itself")
            }
        }

        func run() async throws {
            let file = try self.options.read()
            let topic = try self.topic(of: file.facts)
            let credential = try file.credential()
            var proofs: [(environment: PushEnvironment, proof: CredentialProof)] = []
            for environment in self.environment {
                var configuration = APNsClient.Configuration(environment: environment, credential: credential)
                configuration.host = self.host
                configuration.port = self.port
                configuration.requestDeadline = Int64(self.seconds) * 1_000
                configuration.connectTimeout = configuration.requestDeadline
                if let path = self.trustRoots { configuration.trustRoots = .file(path: path) }
                let proof = try await APNsClient.prove(
                    configuration, topic: topic, token: self.token.map { PushToken($0.lowercased()) },
                    logger: Logger(label: "tidings.credential") { _ in SwiftLogNoOpLogHandler() })
                proofs.append((environment, proof))
            }
            self.show(proofs, topic: topic)
            let isProven = proofs.allSatisfy { $0.proof.verdict == .proven || $0.proof.verdict == .topicProven }
            if !isProven { throw ExitCode.failure }
        }

        private func topic(of facts: CredentialFacts) throws -> String {
            if let topic = self.topic { return topic }
            guard case .certificate(let certificate) = facts.content, let topic = certificate.topics.first else {
                throw ValidationError("--topic must be given: a key has none of its own")
            }
            return topic.name
        }

        private func show(_ proofs: [(environment: PushEnvironment, proof: CredentialProof)], topic: String) {
            guard self.json else {
                for (environment, proof) in proofs {
                    let verdict = proof.verdict.rawValue.replacingOccurrences(of: "_", with: " ")
                    let words = [environment.rawValue, verdict, proof.reason, proof.meaning].compactMap { $0 }
                    print(words.joined(separator: ": "))
                }
                return
            }
            let elements = proofs.map { environment, proof in
                JSONValue.members([
                    ("environment", .string(environment.rawValue)), ("topic", .string(topic)),
                    ("verdict", .string(proof.verdict.rawValue)), ("reason", .optional(proof.reason)),
                    ("meaning", .string(proof.meaning)),
                ])
            }
            print(JSONValue.members([("proofs", .array(elements))]).text)
        }
    }
}

struct CredentialOptions: ParsableArguments {
    @Argument(help: "The file: a .p8 key, a .p12 file, or certificate and key in PEM form.") var file: String
    @Option(help: "A file with the password of a .p12 file or an encrypted key in its first line.")
    var passwordFile: String?
    @Option(help: "The key's id; in its file's name, as Apple gives it, if left out.") var keyID: String?
    @Option(help: "The team's id, which a key needs; a certificate has it.") var teamID: String?

    func read() throws -> CredentialFile {
        try CredentialFile(
            try Self.bytes(of: self.file, "FILE"), name: self.file, password: try self.password(), keyID: self.keyID,
            teamID: self.teamID)
    }

    /// Returns the members as the HTTP API takes them.
    func members() throws -> [(String, JSONValue)] {
        let bytes = try Self.bytes(of: self.file, "FILE")
        let given: [(String, String?)] = [
            ("file", Base64.encode(bytes, .standard)), ("name", URL(fileURLWithPath: self.file).lastPathComponent),
            ("password", try self.password()), ("key_id", self.keyID), ("team_id", self.teamID),
        ]
        return given.compactMap { name, value in value.map { (name, .string($0)) } }
    }

    private func password() throws -> String? {
        try self.passwordFile.map { path in
            let text = try FileText.read(try Self.bytes(of: path, "--password-file"), field: "--password-file")
            return String(text.prefix { !$0.isNewline })
        }
    }

    /// No more than tells that it is too much.
    private static func bytes(of path: String, _ option: String) throws -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            return Array(try file.read(upToCount: CredentialForm.bytesMax + 1) ?? Data())
        } catch {
            throw ToolFailure("\(option) must be a file that can be read: \(path)")
        }
    }
}

/// The lines that a person reads of a credential.
struct CredentialLines {
    let lines: [String]

    init(_ facts: CredentialFacts) {
        var rows: [(String, String)]
        switch facts.content {
        case .tokenKey(let keyID, let teamID):
            rows = [
                ("kind", "token key"), ("key id", keyID ?? "not in the file's name; give --key-id"),
                ("team", teamID ?? "not in the file; give --team-id"),
                ("topics", "those of the team or of the key, as Apple's developer account says"),
                ("environments", "not in the file; `tidings credential prove` asks APNs"),
            ]
        case .certificate(let certificate):
            rows = [
                ("kind", certificate.isVoIP ? "certificate, for calls alone" : "certificate"),
                ("name", certificate.name), ("issuer", certificate.issuer), ("team", certificate.teamID ?? "not in it"),
            ]
            for (index, topic) in certificate.topics.enumerated() {
                let types = certificate.pushTypes(to: topic.name).map(\.rawValue).joined(separator: ", ")
                rows.append((index == 0 ? "topics" : "", "\(topic.name) (\(types))"))
            }
            rows += [
                ("environments", certificate.environments.map(\.rawValue).joined(separator: ", ")),
                ("good from", Self.time(certificate.validFrom)), ("good until", Self.time(certificate.expiresAt)),
            ]
        }
        rows.append(("fingerprint", facts.fingerprint))
        self.lines = TextTable.lines(rows.map { [$0.0, $0.1] })
    }

    private static func time(_ milliseconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000)) + " UTC"
    }
}
