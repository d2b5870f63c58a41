import Foundation
public import UIKit

/// Sends a photo of the person's library. It needs no permission: the system's picker hands over what is chosen alone.
public struct ImagePlugin: InputPlugin {
    /// The plug-in.
    public init() {}

    /// *Photo*.
    public func title(in words: InterfaceWords) -> String { words.chat.photo }

    /// A photo.
    public var image: UIImage? { UIImage(systemName: "photo") }

    /// Opens the library.
    public func perform(in screen: ConversationViewController) {
        let picker = UIImagePickerController()
        picker.sourceType = .photoLibrary
        let choice = PhotoChoice(screen)
        picker.delegate = choice
        // The picker keeps its delegate weakly.
        screen.photoChoice = choice
        screen.present(picker, animated: true)
    }
}

/// Takes the image that the person has chosen in the library.
final class PhotoChoice: NSObject, UIImagePickerControllerDelegate, UINavigationControllerDelegate {
    private weak var screen: ConversationViewController?

    @MainActor init(_ screen: ConversationViewController) { self.screen = screen }

    func imagePickerController(
        _ picker: UIImagePickerController, didFinishPickingMediaWithInfo info: [UIImagePickerController.InfoKey: Any]
    ) {
        let file = info[.imageURL] as? URL
        picker.dismiss(animated: true)
        if let file { self.screen?.sendImage(file) }
        self.screen?.photoChoice = nil
    }

    func imagePickerControllerDidCancel(_ picker: UIImagePickerController) {
        picker.dismiss(animated: true)
        self.screen?.photoChoice = nil
    }
}

/// An image in full.
final class ImageViewController: UIViewController {
    private let interface: ChatInterface
    private let row: MessageRow
    private let photoView = UIImageView()
    private let label = MessageCell.label(.body, .secondaryLabel)
    private let wheel = UIActivityIndicatorView(style: .medium)

    init(_ row: MessageRow, interface: ChatInterface) {
        self.row = row
        self.interface = interface
        super.init(nibName: nil, bundle: nil)
        self.modalPresentationStyle = .fullScreen
    }

    required init?(coder: NSCoder) { return nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        let words = self.interface.words.chat
        self.view.backgroundColor = .systemBackground
        self.photoView.contentMode = .scaleAspectFit
        self.photoView.isAccessibilityElement = true
        self.photoView.accessibilityLabel = self.row.spoken(in: words)
        self.label.text = words.noImage
        self.label.isHidden = true
        self.label.textAlignment = .center
        let close = UIButton(
            type: .system,
            primaryAction: UIAction(title: words.close) { [weak self] _ in self?.dismiss(animated: true) })
        let column = UIStackView(arrangedSubviews: [close, self.photoView, self.wheel, self.label])
        column.axis = .vertical
        close.setContentHuggingPriority(.required, for: .vertical)
        column.translatesAutoresizingMaskIntoConstraints = false
        self.view.addSubview(column)
        let area = self.view.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            column.leadingAnchor.constraint(equalTo: area.leadingAnchor),
            column.trailingAnchor.constraint(equalTo: area.trailingAnchor),
            column.topAnchor.constraint(equalTo: area.topAnchor),
            column.bottomAnchor.constraint(equalTo: area.bottomAnchor),
        ])
        self.load()
    }

    /// VoiceOver's escape closes it.
    override func accessibilityPerformEscape() -> Bool {
        self.dismiss(animated: true)
        return true
    }

    private func load() {
        guard let source = self.row.image(isSmall: false) else { return }
        self.wheel.startAnimating()
        Task { [weak self, interface] in
            let loaded = await interface.images.loadForScreen(source)
            self?.wheel.stopAnimating()
            self?.photoView.image = loaded
            self?.label.isHidden = loaded != nil
        }
    }
}
