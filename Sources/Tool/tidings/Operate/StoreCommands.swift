import ArgumentParser
import Foundation
import Logging
import MessageStore
import NIOPosix
import TidingsServer

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Back up, restore, check and rebuild the server's database.",
        subcommands: [Backup.self, Restore.self, Check.self, Rebuild.self])
}

/// Where the database of the server on this machine lies.
struct StoreOptions: ParsableArguments {
    @Option(name: [.short, .long], help: "The server's configuration file, for its store.path.") var config: String?
    @Option(help: "The database, in place of a configuration file.") var store: String?

    func validate() throws {
        guard self.store == nil || self.config == nil else {
            throw ValidationError("--store and --config must not be given together")
        }
    }

    func database() async throws -> String {
        if let store = self.store { return store }
        do throws(ConfigurationFaults) {
            return try await ServerConfiguration.load(
                file: self.config, environment: ProcessInfo.processInfo.environment
            ).store.path
        } catch {
            throw ToolFailure(error.faults.map { "\($0)" }.joined(separator: "; "))
        }
    }

    var logger: Logger { Logger(label: "tidings.store") { _ in SwiftLogNoOpLogHandler() } }
}

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database into a new file, also while the server runs.",
        discussion: """
            A running server makes the copy itself, a part at a time; nobody waits for it. Run it as the server's user. The file \
            holds all messages: keep it as safe as the database.
            """)
    @OptionGroup var options: StoreOptions
    @Option(help: "The new file; it must not exist.") var to: String

    func run() async throws {
        let database = try await self.options.database()
        let target = URL(fileURLWithPath: self.to).path
        try await ProgressLine.during("copying \(database)") { try await self.copy(database, to: target) }
        print(target)
    }

    private func copy(_ database: String, to target: String) async throws {
        let startedAt = Self.now
        do throws(MessageStoreError) {
            try StoreMaintenance.backUp(path: database, to: target, logger: self.options.logger)
            StoreControl.noteBackup(of: database, to: target, startedAt: startedAt, endedAt: Self.now)
        } catch {
            guard error.reason == .inUse else { throw error }
            try await Self.requestBackup(database, target)
        }
    }

    /// Wall milliseconds.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    private static func requestBackup(_ database: String, _ target: String) async throws {
        let fault: String?
        do {
            fault = try await StoreControl.backUp(
                database: database, to: target, group: MultiThreadedEventLoopGroup.singleton)
        } catch {
            throw ToolFailure(
                "\(database) is open in a server that takes no questions (\(error)): stop it, or run this as its user")
        }
        if let fault { throw ToolFailure(fault) }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a backup in the place of the database while the server is stopped.",
        discussion: """
            The database that is there is kept beside it under another name. When the server starts it finds out, and phones sync \
            their logs again; they keep what the backup lacks.
            """)
    @OptionGroup var options: StoreOptions
    @Option(help: "The backup.") var from: String

    func run() async throws {
        let database = try await self.options.database()
        let aside = try await ProgressLine.during("copying \(self.from)") {
            try StoreMaintenance.restore(path: database, from: self.from, logger: self.options.logger)
        }
        print("\(database) is restored from \(self.from)")
        if let aside { print("what was there is \(aside)") }
    }
}

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read a whole database and compare everything in it with its journal.",
        discussion: """
            The server must be stopped, or let it check a backup with --store. Needs twice the size of the database beside it for a \
            while, and changes nothing. Exit status 0 if all is well, 1 if not: each line names what is wrong.
            """)
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let database = try await self.options.database()
        let findings = try await ProgressLine.during("reading \(database)") {
            try StoreMaintenance.check(path: database, logger: self.options.logger)
        }
        for finding in findings { print(finding) }
        guard findings.isEmpty else {
            printError("\(database) is damaged: run tidings store rebuild, or restore a backup", .red)
            throw ExitCode(1)
        }
        print("\(database) is whole", .green)
    }
}

struct Rebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a damaged database anew from its journal while the server is stopped.",
        discussion: """
            The damaged one is kept beside it under another name. What cannot be read any more is named, one line each; then phones \
            sync their logs again, and keep what the server has lost.
            """)
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let database = try await self.options.database()
        let report = try await ProgressLine.during("making \(database) anew") {
            try StoreMaintenance.rebuild(path: database, logger: self.options.logger)
        }
        print("\(database) is made anew from \(counted(report.records, "record"))")
        for lost in report.lost { print("lost: \(lost)") }
        print("what was there is \(report.aside)")
    }
}
