import Foundation
import TidingsClient
import TidingsModel
import UIKit

/// The devices on which the person is signed in, with a way to sign out of the others (`ChatClient.signOut(device:)` says what that does).
///
/// ```swift
/// self.navigationController?.pushViewController(DevicesViewController(), animated: true)
/// ```
@MainActor open class DevicesViewController: FormViewController {
    private var form = DeviceForm.loading { didSet { self.showForm() } }

    open override func viewDidLoad() {
        super.viewDidLoad()
        self.title = self.words.devices
        self.tableView.accessibilityIdentifier = "tidings.devices"
        let control = UIRefreshControl()
        control.addAction(UIAction { [weak self] _ in self?.update() }, for: .valueChanged)
        self.tableView.refreshControl = control
        self.showForm()
    }

    /// Asks the server anew. What was shown stays where it does not answer.
    open override func refresh() {
        Task { [weak self, client = self.client] in
            defer { self?.tableView.refreshControl?.endRefreshing() }
            do {
                let devices = try await client.devices()
                guard let self, self.isOwners else { return }
                self.form = .devices(devices)
            } catch {
                guard let self, self.isOwners else { return }
                if case .devices = self.form {
                } else {
                    self.form = .failed(ChatFailure(error).text(in: self.interface.words.chat))
                }
            }
        }
    }

    override func forget() { self.form = .loading }

    private func showForm() {
        let now = self.client.clock.now.wall
        self.sections = self.form.sections(self.words, again: self.interface.words.chat.retry) {
            self.texts.time.long($0, now: now)
        }
    }

    override func didChoose(_ row: FormRow) {
        guard row.id == "again" else { return }
        self.form = .loading
        self.refresh()
    }

    override func didSwipe(_ row: FormRow) {
        guard case .devices(let devices) = self.form,
            let device = devices.first(where: { DeviceForm.id(of: $0) == row.id })
        else { return }
        self.confirm(\.askSignOut, row.title, button: self.words.signOut) { [weak self] in
            self?.request { try await $0.signOut(device: device.id) }
        }
    }
}
