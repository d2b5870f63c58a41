import PhoneCore
import ServerCore
import TidingsModel

/// What a person does beside what all people do.
package enum Habit: String, Hashable, Sendable, CaseIterable {
    /// Lays the phone away for the night.
    case night
    /// Rides through tunnels.
    case commute
    /// Sits in meetings, with a Focus on.
    case meetings
    /// Clears every notification within seconds.
    case tidiness
}

/// Who holds phones, and which. The default is people of no habits, each with iOS 17 and an app of scenes.
package struct Population: Hashable, Sendable {
    /// What phones run, of which each gets one.
    var versions: [OSVersion] = [17]
    /// Who is told about the life-cycle of the app.
    var styles: [LifecycleStyle] = [.scenes]
    /// Apps that may show nothing of a push, of a thousand.
    var filtering: Int64 = 0
    /// What people have the habit of, of which each has one at most.
    var habits: [Habit] = []
    /// How many people and phones there are, and which groups.
    var crowd = Crowd()
    /// How many messages of one connection the server stores at the same time, at most.
    var sendsInFlightMax = ServerSettings().sendsInFlightMax

    /// The default.
    init() {}
}

extension WorldFaults {
    /// A plan of its own for each seed: some faults of the harsh plan, and some not at all.
    ///
    /// - Parameter chance: the stream the plan is drawn from.
    static func drawn(_ chance: inout SplitMix64) -> WorldFaults {
        var plan = WorldFaults.none
        plan.isDrawn = true
        plan.latencyMax = chance.number(40...WorldFaults.harsh.latencyMax)
        let levels: [WorldFaults] = [.none, .default, .harsh]
        func level() -> WorldFaults { levels[Int(chance.number(0...2))] }
        plan.silentDeath = level().silentDeath
        plan.reset = level().reset
        // A run without a crash shows little.
        plan.crash = max(level().crash, WorldFaults.default.crash)
        plan.apns = level().apns
        plan.phone = level().phone
        plan.push = level().push
        plan.extensions = level().extensions
        plan.neglect = level().neglect
        plan.server = level().server
        plan.slowLinks = level().slowLinks
        plan.http = level().http
        plan.phoneFaults = PhoneFault.allCases.filter { _ in chance.chance(perMille: 500) }
        plan.serverFaults = ServerFault.allCases.filter { _ in chance.chance(perMille: 500) }
        return plan
    }
}

extension Population {
    /// A population of its own for each seed.
    ///
    /// - Parameter chance: the stream it is drawn from.
    static func drawn(_ chance: inout SplitMix64) -> Population {
        var population = Population()
        population.versions = [15, 16, 17, 18].filter { _ in chance.chance(perMille: 600) }
        if population.versions.isEmpty { population.versions = [17] }
        population.styles = [[.scenes], [.application], [.scenes, .application]][Int(chance.number(0...2))]
        population.filtering = [0, 300][Int(chance.number(0...1))]
        population.habits = Habit.allCases.filter { _ in chance.chance(perMille: 600) }
        population.sendsInFlightMax = [population.sendsInFlightMax, 1][Int(chance.number(0...1))]
        return population
    }
}

extension Population {
    /// Systems before iOS 15, in some worlds. Nothing is passive there, and what is silenced shows a banner. Before iOS 10 there is
    /// neither an extension nor a list whose entries have names, so that P3 says nothing there (docs/simulation.md).
    ///
    /// - Parameter chance: the stream it is drawn from.
    mutating func addOldSystems(_ chance: inout SplitMix64) {
        guard chance.chance(perMille: 400) else { return }
        self.versions += ([10, 11, 12, 13, 14] as [OSVersion]).filter { _ in chance.chance(perMille: 500) }
    }
}

// What habits lead to.
extension World {
    /// Whether a habit is all the person does now.
    mutating func followsHabit(_ index: Int) -> Bool {
        guard let habit = self.phones[index].habit, habit != .tidiness, self.chance.chance(perMille: 150) else {
            return false
        }
        self.note("person on phone \(index) has the habit \(habit.rawValue)")
        switch habit {
        case .tidiness: return false
        case .night:
            self.see(.reached(.nights))
            self.handle(PhoneEvent.person(.locked), on: index)
            self.phones[index].sleepsUntil = self.time + self.chance.number(600_000...1_800_000)
        case .commute:
            self.see(.reached(.commutes))
            self.see(.disturbed(self.phones[index].key))
            self.handle(PhoneEvent.person(.airplaneModeChanged(isOn: true)), on: index)
            self.plan(
                .phone(index, .person(.airplaneModeChanged(isOn: false))), after: self.chance.number(2_000...60_000))
        case .meetings:
            self.see(.reached(.meetings))
            self.handle(PhoneEvent.person(.focusChanged(Focus())), on: index)
            self.plan(.phone(index, .person(.focusChanged(nil))), after: self.chance.number(60_000...600_000))
        }
        return true
    }
}
