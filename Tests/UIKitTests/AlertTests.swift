import PhoneCore
import Testing
import UIKit
import VirtualPhone

@MainActor private final class Picked: UIImagePickerControllerDelegate, UINavigationControllerDelegate {
    var info: [UIImagePickerController.InfoKey: Any]?
    var isCancelled = false

    func imagePickerController(
        _ picker: UIImagePickerController, didFinishPickingMediaWithInfo info: [UIImagePickerController.InfoKey: Any]
    ) {
        self.info = info
        picker.dismiss(animated: true)
    }
    func imagePickerControllerDidCancel(_ picker: UIImagePickerController) {
        self.isCancelled = true
        picker.dismiss(animated: true)
    }
}

@MainActor @Suite struct `What is shown over a screen` {
    private let app = OneScreen()
    private var taps: Int { self.counter.taps }
    private let counter = Counter()

    @MainActor private final class Counter { var taps = 0 }

    private func phone() async -> VirtualPhone {
        let counter = self.counter
        self.app.screen.view.addSubview(
            UIButton(type: .system, primaryAction: UIAction(title: "Send") { _ in counter.taps += 1 }))
        return await self.app.phone()
    }

    @Test func `as an alert takes touches alone until it is answered, then does what was chosen`() async {
        let phone = await self.phone()
        var answers: [String] = []
        let alert = UIAlertController(title: "Delete?", message: "For good.", preferredStyle: .alert)
        for (title, style) in [("Delete", .destructive), ("Cancel", .cancel)] as [(String, UIAlertAction.Style)] {
            alert.addAction(
                UIAlertAction(title: title, style: style) { [weak alert] in
                    answers.append("\($0.title ?? "") \(alert?.presentingViewController == nil)")
                })
        }
        await phone.inApp { self.app.screen.present(alert, animated: true) }
        #expect(phone.views().first?.children.last?.role == .alert)
        #expect(phone.all(.alert).first?.texts == ["Delete?", "For good.", "Delete", "Cancel"])
        #expect(phone.view("Send")?.actions == [], "seen, and out of reach")
        #expect(await !phone.touch("Send"))
        #expect(await phone.touch("Delete"))
        #expect(answers == ["Delete true"], "the alert is gone when its answer is done")
        #expect(phone.all(.alert) == [])
        await phone.touch("Send")
        #expect(self.taps == 1)
        await phone.inApp { self.app.screen.present(alert, animated: true) }
        #expect(await phone.touch("Delete?", .escape))
        #expect(answers.last == "Cancel true")
    }

    @Test func `as an alert may have fields, and answers that are off until they are filled`() async throws {
        let phone = await self.phone()
        let alert = UIAlertController(title: "Name", message: nil, preferredStyle: .alert)
        let save = UIAlertAction(title: "Save", style: .default)
        save.isEnabled = false
        alert.addTextField { field in
            field.placeholder = "New name"
            field.addAction(
                UIAction { [weak field] _ in save.isEnabled = field?.text?.isEmpty == false }, for: .editingChanged)
        }
        alert.addAction(save)
        await phone.inApp { self.app.screen.present(alert, animated: true) }
        #expect(await !phone.touch("Save"))
        await phone.touch("New name", .enter("Bob"))
        #expect(await phone.touch("Save"))
        #expect(alert.textFields?.map(\.text) == ["Bob"])
    }

    @Test func `in a window takes the touches of the windows behind it too, and the scrub goes on to them`() async {
        let phone = await self.phone()
        let (front, root) = (UIWindow(frame: UIScreen.main.bounds), UIViewController())
        front.rootViewController = root
        root.view.addSubview(UILabel.saying("Banner"))
        await phone.inApp {
            front.makeKeyAndVisible()
            let below = UIViewController()
            below.view.addSubview(UILabel.saying("Sheet"))
            self.app.screen.present(below, animated: true)
        }
        #expect(
            await phone.inApp { UIApplication.shared.perform(.escape) }, "the front window has nothing that goes away")
        #expect(await phone.touch("Send") && self.taps == 1, "a window alone covers nothing")
        let alert = UIAlertController(title: "Delete?", message: nil, preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: "Cancel", style: .cancel))
        await phone.inApp { root.present(alert, animated: true) }
        #expect(phone.view("Send")?.actions == [])
        #expect(await !phone.touch("Send"))
        #expect(await phone.touch("Cancel"))
        #expect(await phone.touch("Send") && self.taps == 2)
    }

    @Test func `as a sheet hides what is below, and VoiceOver sends it away`() async {
        let phone = await self.phone()
        let sheet = UIViewController()
        sheet.view.addSubview(UILabel.saying("Sheet"))
        await phone.inApp { self.app.screen.present(sheet, animated: true) }
        #expect(phone.views().flatMap(\.texts) == ["Sheet"])
        #expect(await !phone.touch("Send"))
        #expect(await phone.touch("Sheet", .escape))
        #expect(phone.views().flatMap(\.texts) == ["Send"])
    }

    @Test func `as the phone's photos has them by number, and gives the one that is tapped`() async throws {
        let phone = await self.phone()
        let picked = Picked()
        func open() async {
            await phone.inApp {
                let picker = UIImagePickerController()
                picker.sourceType = .photoLibrary
                picker.delegate = picked
                self.app.screen.present(picker, animated: true)
            }
        }
        await open()
        #expect(phone.views().flatMap(\.texts) == ["Cancel", "Photos", "Photo 1"])
        #expect(await phone.touch("Photo 1"))
        let file = try #require(picked.info?[.imageURL] as? URL)
        let image = try #require(picked.info?[.originalImage] as? UIImage)
        #expect(image == UIImage(data: try Data(contentsOf: file)))
        #expect(phone.views().flatMap(\.texts) == ["Send"])
        await open()
        await phone.touch("Cancel")
        #expect(picked.isCancelled)
        #expect(phone.views().flatMap(\.texts) == ["Send"])
    }

    @Test func `keeps a copied text for its own app`() async {
        let phone = await self.phone()
        let text = await phone.inApp {
            UIPasteboard.general.string = "copied"
            return UIPasteboard.general.string
        }
        #expect(text == "copied")
        #expect(UIPasteboard.general.string == nil)
    }
}
