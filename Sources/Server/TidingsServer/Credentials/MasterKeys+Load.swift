import Foundation
import Logging
import TidingsModel

extension MasterKeys {
    private static let field = "store.master_key_path"

    /// From the environment, the file that is named, or the one beside the database, which is made if the store holds nothing sealed yet.
    /// - Throws: a fault naming the file.
    static func load(
        _ store: ServerConfiguration.Store, holdsSecrets: Bool, logger: Logger
    ) throws(ConfigurationFaults) -> MasterKeys {
        if let keys = store.masterKeys {
            do throws(Fault) {
                return try MasterKeys(parsing: keys.value)
            } catch {
                throw ConfigurationFaults(
                    field: ServerConfiguration.masterKeyVariable, rule: error.rule,
                    remedy: "give the keys as in the file, with semicolons between")
            }
        }
        let isNamed = !store.masterKeyPath.isEmpty
        let path = isNamed ? store.masterKeyPath : "\(store.path).key"
        if !isNamed, !FileManager.default.fileExists(atPath: path) {
            guard !holdsSecrets else {
                throw Self.fault(
                    "must be there: the store's secrets are sealed under the keys of \"\(path)\"",
                    "bring the file of the keys from where the database came from, or name it with \(Self.field)")
            }
            try Self.make(path)
            logger.log(
                .notice, "a master key was made",
                [
                    .path: path,
                    .advice:
                        "keep a copy of it apart from the backups: without it they hold no secret that can be used",
                ])
        }
        return try Self.read(path)
    }

    private static func fault(_ rule: String, _ remedy: String) -> ConfigurationFaults {
        ConfigurationFaults(field: Self.field, rule: rule, remedy: remedy)
    }

    private static func read(_ path: String) throws(ConfigurationFaults) -> MasterKeys {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue else {
            throw Self.fault("must name a file, got \"\(path)\"", "give the path of the file with the master keys")
        }
        guard mode & 0o077 == 0 else {
            throw Self.fault(
                "must name a file for the server's user alone, but \"\(path)\" has the mode \(String(mode, radix: 8))",
                "chmod 600 \(path)")
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Self.fault(
                "must name a file that the server can read, got \"\(path)\"", "give the file to the server's user")
        }
        let text: String
        do throws(InvalidField) {
            text = try FileText.read(bytes, field: path)
        } catch {
            throw Self.fault("\(error.rule) (\"\(path)\")", "save the file as text in UTF-8")
        }
        do throws(Fault) {
            return try MasterKeys(parsing: text)
        } catch {
            throw Self.fault("\(error.rule) (in \"\(path)\")", "write lines such as: ID $(openssl rand -base64 32)")
        }
    }

    /// Whole and on the disk before anything is sealed under it.
    private static func make(_ path: String) throws(ConfigurationFaults) {
        let isMade =
            Self.store(Array(Self.drawLine(id: "1").utf8), at: "\(path).new")
            && rename("\(path).new", path) == 0 && Self.sync(folderOf: path)
        guard !isMade else { return }
        throw Self.fault(
            "must be there, and \"\(path)\" cannot be made: \(String(cString: strerror(errno)))",
            "make the folder writable, or name another file")
    }

    private static func store(_ bytes: [UInt8], at path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Foundation.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    }

    private static func sync(folderOf path: String) -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
