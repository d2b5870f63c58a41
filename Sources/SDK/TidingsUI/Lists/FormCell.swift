import Foundation
import TidingsModel
import UIKit

/// A row of settings: the title, and beside it what it is set to.
@MainActor final class FormCell: UITableViewCell {
    private let toggle = UISwitch()
    private let picker = UIDatePicker()
    private var row: FormRow?
    private weak var form: FormViewController?

    override init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
        super.init(style: reuseIdentifier == FormRow.detailed ? .subtitle : .value1, reuseIdentifier: reuseIdentifier)
        for (label, style) in [(self.textLabel, UIFont.TextStyle.body), (self.detailTextLabel, .subheadline)] {
            label?.font = .preferredFont(forTextStyle: style)
            label?.adjustsFontForContentSizeCategory = true
            label?.numberOfLines = 0
        }
        self.detailTextLabel?.textColor = .secondaryLabel
        self.picker.datePickerMode = .time
        self.picker.preferredDatePickerStyle = .compact
        self.toggle.addAction(UIAction { [weak self] _ in self?.didSwitch() }, for: .valueChanged)
        self.picker.addAction(UIAction { [weak self] _ in self?.didSetTime() }, for: .valueChanged)
    }

    required init?(coder: NSCoder) { return nil }

    private func didSwitch() { if let row = self.row { self.form?.didSwitch(row, isOn: self.toggle.isOn) } }

    private func didSetTime() {
        guard let row = self.row, let form = self.form else { return }
        form.didSet(row, minutes: form.texts.time.minutes(of: self.picker.date))
    }

    func configure(_ row: FormRow, in form: FormViewController) {
        let isSame = self.row?.id == row.id
        self.row = row
        self.form = form
        self.textLabel?.text = row.title
        self.detailTextLabel?.text = row.detail ?? row.value
        self.textLabel?.textColor = .label
        self.accessoryView = nil
        self.accessoryType = .none
        self.selectionStyle = .default
        // A switch and a picker speak for themselves.
        self.isAccessibilityElement = true
        self.textLabel?.isAccessibilityElement = true
        self.accessibilityLabel = row.spoken
        self.accessibilityTraits = .button
        switch row.kind {
        case .text:
            self.selectionStyle = row.swipe == nil ? .none : .default
            self.accessibilityTraits = row.swipe == nil ? .staticText : .button
        case .link: self.accessoryType = .disclosureIndicator
        case .button(let isDestructive): self.textLabel?.textColor = isDestructive ? .systemRed : .tintColor
        case .choice(let isChosen):
            self.accessoryType = isChosen ? .checkmark : .none
            if isChosen { self.accessibilityTraits.insert(.selected) }
        case .toggle(let isOn):
            self.toggle.accessibilityLabel = row.spoken
            self.toggle.setOn(isOn, animated: isSame)
            self.carry(self.toggle)
        case .time(let minutes):
            self.picker.accessibilityLabel = row.title
            self.picker.calendar = form.texts.time.calendar
            self.picker.date = form.texts.time.date(ofMinutes: minutes, now: form.client.clock.now.wall)
            // An accessory keeps the size it comes with.
            self.picker.sizeToFit()
            self.carry(self.picker)
        }
    }

    private func carry(_ control: UIControl) {
        self.accessoryView = control
        self.selectionStyle = .none
        self.isAccessibilityElement = false
        self.textLabel?.isAccessibilityElement = false
    }
}

/// A choice among several rows, which closes the screen.
@MainActor final class ChoiceViewController: FormViewController {
    private let options: [FormRow]
    private let chosen: String?
    private let choose: @MainActor (String) -> Void

    /// - Parameters: options: ids and what they are called. choose: is told of the choice.
    init(
        _ interface: ChatInterface, title: String, options: [(id: String, title: String)], chosen: String?,
        choose: @escaping @MainActor (String) -> Void
    ) {
        self.options = options.map { FormRow($0.id, $0.title) }
        self.chosen = chosen
        self.choose = choose
        super.init(interface: interface)
        self.title = title
    }

    required init?(coder: NSCoder) { return nil }

    override func refresh() {
        let rows = self.options.map { option in
            var row = option
            row.kind = .choice(isChosen: option.id == self.chosen)
            return row
        }
        self.sections = [FormSection("choice", rows: rows)]
    }

    override func didChoose(_ row: FormRow) {
        self.choose(row.id)
        self.navigationController?.popViewController(animated: true)
    }
}

extension FormViewController {
    /// Opens a choice of a level. Nil, where it is offered, is the level of the kind.
    func chooseLevel(
        _ row: FormRow, of type: ConversationType, _ current: NotificationLevel?, offersKind: Bool,
        choose: @escaping @MainActor (NotificationLevel?) -> Void
    ) {
        let levels = type.levels.map { (id: $0.rawValue, title: self.words.name(of: $0)) }
        let kind = offersKind ? [(id: "kind", title: self.words.levelOfKind)] : []
        let screen = ChoiceViewController(
            self.interface, title: row.title, options: kind + levels, chosen: current?.rawValue ?? "kind"
        ) { chosen in choose(NotificationLevel(rawValue: chosen)) }
        self.navigationController?.pushViewController(screen, animated: true)
    }
}

extension ConversationType {
    /// The levels a kind has: in a conversation of two, a level of mentions would silence everything.
    var levels: [NotificationLevel] { self.isGroup ? NotificationLevel.allCases : [.all, .blocked] }
}
