import PhoneCore
import Testing
import UIKit
import VirtualPhone

@MainActor @Suite struct `A control` {
    private let app = OneScreen()

    private func phone(_ views: UIView...) async -> VirtualPhone {
        for view in views { self.app.screen.view.addSubview(view) }
        return await self.app.phone()
    }

    @Test func `that is a switch is tapped on and off, and its value is VoiceOver's`() async {
        var heard: [Bool] = []
        let control = UISwitch()
        control.accessibilityLabel = "Mute"
        control.addAction(UIAction { [weak control] _ in heard.append(control?.isOn == true) }, for: .valueChanged)
        let phone = await self.phone(control)
        #expect(phone.view("Mute") == ViewNode(.switch, label: "Mute", value: "0", actions: [.tap]))
        #expect(await phone.touch("Mute"))
        #expect(phone.view("Mute")?.value == "1")
        await phone.touch("Mute", .activate)
        #expect(heard == [true, false])
        control.setOn(true, animated: true)
        #expect(heard.count == 2, "the app's own change is told to nobody")
        control.isEnabled = false
        #expect(await !phone.touch("Mute"))
        #expect(control.isOn)
    }

    @Test func `that says what it is set to says what the app sets instead`() {
        for control in [UISwitch(), UIProgressView(), UIDatePicker()] {
            let own = control.accessibilityValue
            control.accessibilityValue = "Half"
            #expect(control.accessibilityValue == "Half")
            control.accessibilityValue = nil
            #expect(control.accessibilityValue == own && own != nil)
        }
    }

    @Test func `of times is set by typing one`() async {
        var heard: [String] = []
        let picker = UIDatePicker()
        picker.datePickerMode = .time
        picker.timeZone = TimeZone(identifier: "Asia/Shanghai")
        picker.date = Date(timeIntervalSince1970: 14 * 3_600)
        picker.accessibilityLabel = "From"
        picker.addAction(
            UIAction { [weak picker] _ in heard.append(picker?.accessibilityValue ?? "") }, for: .valueChanged)
        let phone = await self.phone(picker)
        #expect(phone.view("From") == ViewNode(.control, label: "From", value: "22:00", actions: [.enter("")]))
        #expect(await phone.touch("From", .enter("7:05")))
        #expect(heard == ["07:05"])
        for wrong in ["24:00", "7", "7:60", "seven"] { #expect(await !phone.touch("From", .enter(wrong))) }
        #expect(picker.date == Date(timeIntervalSince1970: -3_300), "the day stays")
    }

    @Test func `that shows how far something is says so`() async {
        let (bar, wheel) = (UIProgressView(progressViewStyle: .default), UIActivityIndicatorView(style: .medium))
        bar.progress = 0.255
        let phone = await self.phone(bar, wheel)
        #expect(phone.view("Progress")?.value == "26%")
        #expect(phone.view("In progress") == nil)
        wheel.startAnimating()
        #expect(phone.view("In progress") != nil)
        wheel.stopAnimating()
        #expect(phone.view("In progress") == nil)
        bar.progress = 7
        #expect(bar.progress == 1)
    }

    @Test func `with a menu opens it by a tap, and its items act and are gone`() async {
        var chosen: [String] = []
        let more = UIMenu(
            title: "More", children: [UIAction(title: "Delete", attributes: .destructive) { chosen.append($0.title) }])
        let button = UIButton(type: .system)
        button.setTitle("Add", for: .normal)
        button.showsMenuAsPrimaryAction = true
        button.menu = UIMenu(children: [
            UIAction(title: "Photo", state: .on) { action in
                chosen.append("\(action.title) \(action.sender as? UIButton === button)")
            }, UIAction(title: "Gone", attributes: .hidden) { _ in },
            UIAction(title: "Camera", attributes: .disabled) { chosen.append($0.title) },
            UIMenu(options: .displayInline, children: [UIAction(title: "File") { chosen.append($0.title) }]), more,
        ])
        let phone = await self.phone(button)
        #expect(await phone.touch("Add"))
        #expect(phone.all(.menu).flatMap(\.texts) == ["Photo", "Camera", "File", "More"])
        #expect(phone.view("Photo")?.isSelected == true)
        #expect(phone.view("Add")?.actions == [], "the menu takes touches alone")
        #expect(await !phone.touch("Add"))
        #expect(await !phone.touch("Camera"))
        await phone.touch("Photo")
        await phone.touch("Add")
        await phone.touch("More")
        #expect(phone.all(.menu).flatMap(\.texts) == ["Delete"])
        await phone.touch("Delete")
        #expect(chosen == ["Photo true", "Delete"])
        await phone.touch("Add")
        #expect(await phone.touch("Photo", .escape))
        #expect(phone.all(.menu) == [])
        #expect(chosen.count == 2)
    }

    @Test func `with a menu beside its action opens it to a finger that stays`() async {
        var taps = 0
        let button = UIButton(type: .system, primaryAction: UIAction(title: "Send") { _ in taps += 1 })
        button.menu = UIMenu(children: [UIAction(title: "Send later") { _ in }])
        let phone = await self.phone(button)
        #expect(phone.view("Send")?.actions == [.tap, .longPress])
        await phone.touch("Send")
        #expect(taps == 1 && phone.all(.menu) == [])
        #expect(await phone.touch("Send", .longPress))
        #expect(phone.all(.menu).flatMap(\.texts) == ["Send later"])
    }
}
