import Foundation
import TidingsModel

/// Where a client keeps its files.
struct ClientFolders {
    let root: URL

    /// The local store of a person. The name is the ids in hexadecimal, so that any id makes a file name.
    func store(app: AppID, person: UserID) -> URL {
        self.root.appendingPathComponent(Self.hexadecimal(app.rawValue), isDirectory: true)
            .appendingPathComponent("\(Self.hexadecimal(person.rawValue)).sqlite")
    }

    /// This device's id, drawn at the first call and kept.
    func deviceID() throws -> DeviceID {
        let file = self.root.appendingPathComponent("device-id")
        if let text = try? String(contentsOf: file, encoding: .utf8),
            let id = try? DeviceID.validated(text, field: "device-id")
        {
            return id
        }
        let id = UUID().uuidString.lowercased()
        try FileManager.default.createDirectory(at: self.root, withIntermediateDirectories: true)
        try Data(id.utf8).write(to: file, options: .atomic)
        return DeviceID(id)
    }

    /// Remembers who signed in last; true if it was somebody else before.
    func noteSignIn(_ person: UserID, app: AppID) throws -> Bool {
        let file = self.root.appendingPathComponent("signed-in")
        let text = "\(Self.hexadecimal(app.rawValue))/\(Self.hexadecimal(person.rawValue))"
        let before = try? String(contentsOf: file, encoding: .utf8)
        guard before != text else { return false }
        try FileManager.default.createDirectory(at: self.root, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file, options: .atomic)
        return true
    }

    private static func hexadecimal(_ text: String) -> String { DeviceToken(Data(text.utf8)).hexString }
}
