package import Foundation
package import TidingsClient
package import TidingsModel
package import UIKit

/// The images of messages: files of the server, kept beside the person's store, and what the app loads from the web.
@MainActor package final class MessageImages {
    /// Where an image is.
    package enum Source: Hashable, Sendable {
        /// A file of the person's own, which is not sent yet.
        case file(URL)
        /// An image that a message names: a reference to media of the server, or a URL.
        case message(MessageID, address: String)
    }

    /// So many are kept in memory, and so many files on the device.
    private static let countMax = (memory: 40, files: 300)

    /// Loads what lies on a web server; by default nothing.
    package var loadWebImage: @Sendable (URL) async -> Data? = { _ in nil }
    /// Makes an image whose longer side has so many pixels at most.
    package var decode: @Sendable (Data, _ pixels: Int) -> UIImage? = { SmallImages.image(of: $0, pixels: $1) }
    private let client: ChatClient
    private var known: [Source: UIImage] = [:]
    private var order: [Source] = []
    private var underWay: [Source: Task<UIImage?, Never>] = [:]

    /// Loads images for the person who is signed in.
    package init(client: ChatClient) { self.client = client }

    /// Returns the image at the size of rows if it is in memory.
    package func image(at source: Source) -> UIImage? { self.known[source] }

    /// Loads the image at the size of rows.
    package func load(_ source: Source) async -> UIImage? {
        if let image = self.known[source] { return image }
        let task =
            self.underWay[source]
            ?? Task { [weak self] in await self?.read(source, pixels: SmallImages.pixels.row) }
        self.underWay[source] = task
        let person = self.client.userID
        let image = await task.value
        self.underWay[source] = nil
        guard let image, person == self.client.userID else { return nil }
        self.cacheImage(image, source)
        return image
    }

    /// Loads the image at the size of a screen, and does not keep it.
    package func loadForScreen(_ source: Source) async -> UIImage? {
        let person = self.client.userID
        let image = await self.read(source, pixels: SmallImages.pixels.screen)
        return person == self.client.userID ? image : nil
    }

    package func forget() {
        self.known = [:]
        self.order = []
        for task in self.underWay.values { task.cancel() }
        self.underWay = [:]
    }

    private func cacheImage(_ image: UIImage, _ source: Source) {
        guard self.known.updateValue(image, forKey: source) == nil else { return }
        self.order.append(source)
        if self.order.count > Self.countMax.memory { self.known[self.order.removeFirst()] = nil }
    }

    /// Off the main thread, which scrolls.
    private func read(_ source: Source, pixels: Int) async -> UIImage? {
        guard let data = await self.data(of: source) else { return nil }
        let decode = self.decode
        return await Task.detached { decode(data, pixels) }.value
    }

    private func data(of source: Source) async -> Data? {
        switch source {
        case .file(let file): try? Data(contentsOf: file)
        case .message(let message, let address): await self.data(at: address, in: message)
        }
    }

    private func data(at address: String, in message: MessageID) async -> Data? {
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
