/// The life-cycle callbacks of ios-delivery.md §2.2 as a table.
enum Lifecycle {
    enum Step: Equatable, Sendable {
        case call(Callback)
        case enter(AppState)
    }

    /// Split where a tap is reported, between `willEnterForeground` and `didBecomeActive` (§6.1). The caller resumes
    /// a suspended app first. A scene that was disconnected keeps its configuration.
    static func toForeground(
        from state: AppState, scenes: Bool, sceneConnected: Bool, sceneConfigured: Bool, response: UserResponse?
    ) -> (before: [Step], after: [Step]) {
        let connect: [Step] =
            scenes && !sceneConnected
            ? (sceneConfigured ? [] : [.call(.sceneConfiguration(response))]) + [.call(.sceneWillConnect(response))]
            : []
        let appear: [Step] = [.call(scenes ? .sceneWillEnterForeground : .applicationWillEnterForeground)]
        let activate: [Step] = [
            .enter(.foregroundActive), .call(scenes ? .sceneDidBecomeActive : .applicationDidBecomeActive),
        ]
        switch state {
        case .foregroundActive: return ([], [])
        case .foregroundInactive: return (connect + (connect.isEmpty ? [] : appear), activate)
        case .backgroundRunning: return (connect + appear + [.enter(.foregroundInactive)], activate)
        case .suspended, .notRunning, .forceQuit: return ([], [])
        }
    }

    /// A scene that was never connected is told nothing.
    static func toBackground(from state: AppState, scenes: Bool, sceneConnected: Bool) -> [Step] {
        let told: [Step] = [.call(scenes ? .sceneDidEnterBackground : .applicationDidEnterBackground)]
        let enter: [Step] = [.enter(.backgroundRunning)] + (scenes && !sceneConnected ? [] : told)
        switch state {
        case .foregroundActive: return self.toInactive(from: state, scenes: scenes) + enter
        case .foregroundInactive: return enter
        case .backgroundRunning, .suspended, .notRunning, .forceQuit: return []
        }
    }

    static func toInactive(from state: AppState, scenes: Bool) -> [Step] {
        switch state {
        case .foregroundActive:
            return [
                .call(scenes ? .sceneWillResignActive : .applicationWillResignActive), .enter(.foregroundInactive),
            ]
        case .foregroundInactive, .backgroundRunning, .suspended, .notRunning, .forceQuit: return []
        }
    }

    static func toEnd(from state: AppState, scenes: Bool, sceneConnected: Bool) -> [Step] {
        switch state {
        case .foregroundActive, .foregroundInactive, .backgroundRunning:
            return self.toBackground(from: state, scenes: scenes, sceneConnected: sceneConnected)
                + (scenes && sceneConnected ? [.call(.sceneDidDisconnect)] : []) + [.call(.applicationWillTerminate)]
        case .suspended, .notRunning, .forceQuit: return []
        }
    }
}
