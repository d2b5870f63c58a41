import UIKit

/// Notes: a field that adds one, a table of them with what a row has at its side and in its menu, and what was done last in a line above.
final class NotesScreen: UIViewController, UITextFieldDelegate, UITableViewDataSource, UITableViewDelegate {
    private let line = UILabel()
    private let registration = UILabel()
    private let field = UITextField()
    private let table = UITableView()
    private var notes: [String]

    init(count: Int) {
        self.notes = (0..<count).map { "note \($0)" }
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { return nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        self.line.text = "nothing done"
        self.field.placeholder = "New note"
        self.field.accessibilityLabel = "New note"
        self.field.delegate = self
        self.table.register(UITableViewCell.self, forCellReuseIdentifier: "note")
        self.table.dataSource = self
        self.table.delegate = self
        let stack = UIStackView(arrangedSubviews: [self.registration, self.line, self.field, self.table])
        stack.axis = .vertical
        self.view.addSubview(stack)
    }

    func tell(_ text: String) { self.line.text = text }
    func tellRegistration(_ text: String) { self.registration.text = text }

    func textFieldShouldReturn(_ textField: UITextField) -> Bool {
        guard let text = textField.text, !text.isEmpty else { return true }
        self.notes.insert(text, at: 0)
        textField.text = nil
        self.table.reloadData()
        return true
    }

    func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { self.notes.count }

    func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        let cell = tableView.dequeueReusableCell(withIdentifier: "note", for: indexPath)
        cell.textLabel?.text = self.notes[indexPath.row]
        return cell
    }

    func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        self.tell("chosen: \(self.notes[indexPath.row])")
    }

    func tableView(
        _ tableView: UITableView, trailingSwipeActionsConfigurationForRowAt indexPath: IndexPath
    ) -> UISwipeActionsConfiguration? {
        let delete = UIContextualAction(style: .destructive, title: "Delete") { [weak self] _, _, done in
            self?.notes.remove(at: indexPath.row)
            self?.table.reloadData()
            done(true)
        }
        return UISwipeActionsConfiguration(actions: [delete])
    }

    func tableView(
        _ tableView: UITableView, contextMenuConfigurationForRowAt indexPath: IndexPath, point: CGPoint
    ) -> UIContextMenuConfiguration? {
        UIContextMenuConfiguration(identifier: nil, previewProvider: nil) { [weak self] _ in
            let copy = UIAction(title: "Copy") { _ in
                guard let self else { return }
                self.tell("copied: \(self.notes[indexPath.row])")
            }
            return UIMenu(children: [copy])
        }
    }
}
