package import Foundation
package import UIKit

#if canImport(ImageIO)
    import ImageIO
#endif

/// Images no larger than they are shown: the photo of a camera would take 50 MB and more of memory.
package enum SmallImages {
    /// The longer side in pixels: of a portrait, of an image in a conversation, and of one that fills the screen.
    package static let pixels = (portrait: 256, row: 800, screen: 2_732)

    /// Nil for what is no image. Linux decodes no images: there it is as large as it is.
    ///
    /// - Parameter pixels: how long its longer side is at most.
    package static func image(of data: Data, pixels: Int) -> UIImage? {
        #if canImport(ImageIO)
            let options: [CFString: Any] = [
                kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceCreateThumbnailWithTransform: true,
                kCGImageSourceShouldCacheImmediately: true, kCGImageSourceThumbnailMaxPixelSize: pixels,
            ]
            guard let source = CGImageSourceCreateWithData(data as CFData, nil),
                let image = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary)
            else { return nil }
            return UIImage(cgImage: image)
        #else
            return UIImage(data: data)
        #endif
    }
}
