import Foundation
import VirtualPhone

/// On Apple's systems is told which screen of a stack is shown; here it is a name that a picker's delegate has, and is told nothing. https://developer.apple.com/documentation/uikit/uinavigationcontrollerdelegate
@MainActor public protocol UINavigationControllerDelegate: AnyObject {}

/// Is told what a person has picked. Who has neither method need not take the picker away, as on Apple's systems.
/// https://developer.apple.com/documentation/uikit/uiimagepickercontrollerdelegate
@MainActor public protocol UIImagePickerControllerDelegate: AnyObject {
    /// An image was picked; the delegate takes the picker away.
    func imagePickerController(
        _ picker: UIImagePickerController, didFinishPickingMediaWithInfo info: [UIImagePickerController.InfoKey: Any])
    /// Nothing was picked; the delegate takes the picker away.
    func imagePickerControllerDidCancel(_ picker: UIImagePickerController)
}

extension UIImagePickerControllerDelegate {
    /// Takes the picker away, unless the delegate has it.
    public func imagePickerController(
        _ picker: UIImagePickerController, didFinishPickingMediaWithInfo info: [UIImagePickerController.InfoKey: Any]
    ) { picker.dismiss(animated: true) }
    /// Takes the picker away, unless the delegate has it.
    public func imagePickerControllerDidCancel(_ picker: UIImagePickerController) { picker.dismiss(animated: true) }
}

/// Picks an image of the phone's. Its photos are the files of the folder that the environment variable `TIDINGS_PHOTOS` names, or one
/// small image; the person finds them as *Photo 1* and so on. https://developer.apple.com/documentation/uikit/uiimagepickercontroller
open class UIImagePickerController: UINavigationController {
    /// Where images come from. Raw values as Apple's.
    public enum SourceType: Int, Hashable, Sendable {
        case photoLibrary, camera, savedPhotosAlbum
    }

    /// A key of the facts about an image.
    public struct InfoKey: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Wraps Apple's text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The `UIImage`.
        public static let originalImage = InfoKey(rawValue: "UIImagePickerControllerOriginalImage")
        /// The `URL` of a file with it.
        public static let imageURL = InfoKey(rawValue: "UIImagePickerControllerImageURL")
    }

    /// Where images come from: on a virtual phone always the photos.
    open var sourceType = SourceType.photoLibrary
    /// Who is told.
    open weak var delegate: (any UIImagePickerControllerDelegate & UINavigationControllerDelegate)?

    /// Makes the list of photos.
    open override func viewDidLoad() {
        super.viewDidLoad()
        let list = UIViewController()
        list.title = "Photos"
        list.navigationItem.leftBarButtonItem = UIBarButtonItem(
            systemItem: .cancel,
            primaryAction: UIAction(title: "Cancel") { [weak self] _ in self?.cancel() })
        for (number, photo) in Self.photos.enumerated() {
            list.view.addSubview(UIButton("Photo \(number + 1)") { [weak self] in self?.pick(photo) })
        }
        self.viewControllers = [list]
    }

    private func cancel() {
        guard let delegate = self.delegate else { return self.dismiss(animated: true) }
        delegate.imagePickerControllerDidCancel(self)
    }

    private func pick(_ photo: URL) {
        guard let delegate = self.delegate, let image = UIImage(contentsOfFile: photo.path) else {
            return self.dismiss(animated: true)
        }
        delegate.imagePickerController(
            self,
            didFinishPickingMediaWithInfo: [.originalImage: image, .imageURL: photo])
    }

    private static var photos: [URL] {
        let files = FileManager.default
        guard let folder = ProcessInfo.processInfo.environment["TIDINGS_PHOTOS"] else {
            let file = files.temporaryDirectory.appendingPathComponent("tidings-photo.png")
            try? self.smallImage.write(to: file, options: .atomic)
            return [file]
        }
        let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { URL(fileURLWithPath: folder).appendingPathComponent($0) }
            .filter { UIImage(contentsOfFile: $0.path) != nil }
    }

    /// A PNG of one grey pixel.
    private static let smallImage = Data([
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00,
        0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xcd, 0x72,
        0xb6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    ])
}

/// The text that is copied, to be put in elsewhere. https://developer.apple.com/documentation/uikit/uipasteboard
@MainActor public final class UIPasteboard {
    private static let outsideOfPhones = UIPasteboard()
    /// That of the app: on a virtual phone every app has one of its own.
    public static var general: UIPasteboard {
        PhoneProcess.currentIfAny.map { $0.facade(UIPasteboard.self) { UIPasteboard() } } ?? self.outsideOfPhones
    }

    /// The text that was copied.
    public var string: String?
}
