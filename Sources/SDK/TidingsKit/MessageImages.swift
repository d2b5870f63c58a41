package import Foundation
package import TidingsClient
package import TidingsModel
package import UIKit

/// The images of messages: files of the server, kept beside the person's store, and what the app loads from the web.
@MainActor package final class MessageImages {
    /// So many are kept in memory, and so many files on the device.
    private static let countMax = (memory: 60, files: 300)

    /// Loads what lies on a web server; by default nothing.
    package var loadWebImage: @Sendable (URL) async -> Data? = { _ in nil }
    private let client: ChatClient
    private var known: [String: UIImage] = [:]
    private var order: [String] = []
    private var underWay: [String: Task<UIImage?, Never>] = [:]

    /// Of whoever is signed in.
    package init(client: ChatClient) { self.client = client }

    /// Without waiting.
    package func image(at address: String) -> UIImage? { self.known[address] }

    /// - Parameters:
    ///   - address: a reference to media of the server, or a URL.
    ///   - message: the message that names it; nil for a file that this person has uploaded.
    package func load(_ address: String, in message: MessageID?) async -> UIImage? {
        if let image = self.known[address] { return image }
        let task =
            self.underWay[address]
            ?? Task { [weak self] in
                let data = await self?.data(at: address, in: message)
                return data.flatMap { UIImage(data: $0) }
            }
        self.underWay[address] = task
        let person = self.client.userID
        let image = await task.value
        self.underWay[address] = nil
        guard let image, person == self.client.userID else { return nil }
        self.keep(image, address)
        return image
    }

    package func forget() {
        self.known = [:]
        self.order = []
        for task in self.underWay.values { task.cancel() }
        self.underWay = [:]
    }

    private func keep(_ image: UIImage, _ address: String) {
        guard self.known.updateValue(image, forKey: address) == nil else { return }
        self.order.append(address)
        if self.order.count > Self.countMax.memory { self.known[self.order.removeFirst()] = nil }
    }

    private func data(at address: String, in message: MessageID?) async -> Data? {
        guard let media = MediaID(reference: address) else {
            guard let url = URL(string: address) else { return nil }
            return await self.loadWebImage(url)
        }
        guard let folder = try? self.client.screensFolder() else { return nil }
        let file = folder.appendingPathComponent("\(media).seen")
        if let data = try? Data(contentsOf: file) { return data }
        self.removeOld(in: folder)
        do { try await self.client.downloadMedia(media, in: message, to: file) } catch { return nil }
        return try? Data(contentsOf: file)
    }

    /// The oldest half goes when there are too many; the server has them.
    private func removeOld(in folder: URL) {
        let keys: [URLResourceKey] = [.contentModificationDateKey]
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: keys)
        let seen = (files ?? []).filter { $0.pathExtension == "seen" }
        guard seen.count > Self.countMax.files else { return }
        let dated = seen.map { file in
            (file, (try? file.resourceValues(forKeys: Set(keys)).contentModificationDate) ?? .distantPast)
        }
        for (file, _) in dated.sorted(by: { $0.1 < $1.1 }).prefix(seen.count / 2) {
            try? FileManager.default.removeItem(at: file)
        }
    }
}
