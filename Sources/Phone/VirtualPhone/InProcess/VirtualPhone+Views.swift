public import PhoneCore

/// The views of an app, as the facade of UIKit keeps them: values cross to the phone, so that a process of its own can send
/// the same.
@MainActor package protocol ViewHosting: AnyObject, Sendable {
    /// The windows that are shown, back to front.
    var viewTree: [ViewNode] { get }
    /// Does something with the view in the foreground that is called so. Returns false if there is none, or nothing takes it.
    func perform(_ action: ViewAction, on name: String) -> Bool
    /// Does something with the view in the foreground that lists it among its actions. Returns false if none does.
    func perform(_ action: ViewAction) -> Bool
}

extension ViewHosting {
    package func perform(_ action: ViewAction) -> Bool { false }

    /// Without a name the view in the foreground is meant that takes the action.
    func touch(_ name: String?, _ action: ViewAction) -> TouchAnswer {
        guard let name else { return self.perform(action) ? .done : .notTaken }
        if self.perform(action, on: name) { return .done }
        return self.viewTree.contains { $0.first(name) != nil } ? .notTaken : .noSuchView
    }
}

// What is on an app's screen. A call without an app means the first one installed.
extension VirtualPhone {
    /// The windows of an app, back to front, as a person meets them; empty unless the app is in the foreground.
    ///
    /// ```swift
    /// #expect(phone.views().flatMap(\.texts).contains("Alice"))
    /// #expect(await phone.touch("Alice"))
    /// ```
    public func views(of app: BundleID? = nil) -> [ViewNode] {
        guard let process = self.shown(app) else { return [] }
        return PhoneContext.$process.withValue(process) { process.views?.viewTree ?? [] }
    }

    /// Does something with a view that is called so: by what is written on it, by what VoiceOver says of it, or by its
    /// identifier. The one in the foreground is meant, and for a tap or a swipe the control it is in.
    ///
    /// - Parameters:
    ///   - name: the words, whole.
    ///   - action: what is done; a tap if nothing else is said.
    ///   - app: whose view it is.
    /// - Returns: false if there is none on the screen, or nothing takes the action.
    @discardableResult
    public func touch(_ name: String, _ action: ViewAction = .tap, in app: BundleID? = nil) async -> Bool {
        guard self.state(of: app) == .foregroundActive, let process = self.shown(app) else { return false }
        let isTaken = PhoneContext.$process.withValue(process) { process.views?.perform(action, on: name) == true }
        await self.settle()
        return isTaken
    }

    private func shown(_ app: BundleID?) -> PhoneProcess? {
        switch self.state(of: app) {
        case .foregroundActive, .foregroundInactive: self.process(of: app)
        case .backgroundRunning, .suspended, .notRunning, .forceQuit, nil: nil
        }
    }
}
