public import Foundation

#if canImport(ImageIO)
    import ImageIO
#endif

/// Makes the small image that a notification shows, on the sender's phone: the server looks into no image.
public protocol ThumbnailMaker: Sendable {
    /// A JPEG of an image.
    ///
    /// - Parameters:
    ///   - file: the image.
    ///   - pixels: how long its longer side is at most.
    /// - Returns: nil if none can be made of it; the message then goes without.
    func thumbnail(of file: URL, pixels: Int) throws -> Data?
}

/// A thumbnail that the app has made itself; also for systems without image codecs.
public struct GivenThumbnail: ThumbnailMaker {
    /// A JPEG; nil for no thumbnail.
    public var data: Data?

    /// A thumbnail that is there.
    public init(_ data: Data?) { self.data = data }

    /// Returns the app's own thumbnail, whatever the file is.
    public func thumbnail(of file: URL, pixels: Int) throws -> Data? { self.data }
}

/// The system's own thumbnails: ImageIO's where it is, none on systems without image codecs.
public struct SystemThumbnails: ThumbnailMaker {
    /// A maker.
    public init() {}

    /// A JPEG of the image; nil where the system reads no images.
    public func thumbnail(of file: URL, pixels: Int) throws -> Data? {
        #if canImport(ImageIO)
            return try ImageIOThumbnails().thumbnail(of: file, pixels: pixels)
        #else
            return nil
        #endif
    }
}

#if canImport(ImageIO)
    /// Makes thumbnails with ImageIO, which holds no more of the image in memory than the thumbnail needs, and turns it as the camera
    /// was held.
    public struct ImageIOThumbnails: ThumbnailMaker {
        /// How much of the quality is kept, 0 to 1.
        public var quality = 0.7

        /// A maker.
        public init() {}

        /// A JPEG of whatever ImageIO can read; nil for anything else.
        public func thumbnail(of file: URL, pixels: Int) throws -> Data? {
            let options: [CFString: Any] = [
                kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceCreateThumbnailWithTransform: true,
                kCGImageSourceThumbnailMaxPixelSize: pixels,
            ]
            guard let source = CGImageSourceCreateWithURL(file as CFURL, nil),
                let image = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary)
            else { return nil }
            let data = NSMutableData()
            guard
                let target = CGImageDestinationCreateWithData(data, "public.jpeg" as CFString, 1, nil)
            else { return nil }
            CGImageDestinationAddImage(
                target, image, [kCGImageDestinationLossyCompressionQuality: self.quality] as CFDictionary)
            return CGImageDestinationFinalize(target) ? data as Data : nil
        }
    }
#endif
