package import StoreModel
package import TidingsModel

/// A step of a search for the open legs of an app's people in memory: it looks at so many, and says where the next one goes on.
package struct OpenLegQuestion: Hashable, Sendable {
    package var app: AppID
    package var filter: LegFilter
    /// Messages with an id from here on.
    package var oldest: MessageID
    /// Messages with an id before this one.
    package var newest: MessageID
    /// Nil for the first step.
    package var after: OpenLegPlace?
    /// How many legs are told at most. At least 1.
    package var limit: Int
    /// 1 for each person, of any app, and 1 for each leg. At least 2, or no step comes further.
    package var looksMax: Int

    package init(
        app: AppID, filter: LegFilter = LegFilter(), oldest: MessageID = MessageID(rawValue: 0),
        newest: MessageID = MessageID(rawValue: UInt64(Int64.max)), after: OpenLegPlace? = nil, limit: Int,
        looksMax: Int
    ) {
        self.app = app
        self.filter = filter
        self.oldest = oldest
        self.newest = newest
        self.after = after
        self.limit = limit
        self.looksMax = looksMax
    }
}

/// Where a search for open legs goes on: with a place in memory, or there behind a leg. A person who has left memory since, and come back, may
/// have another place: legs that are open all the while keep their person where they are.
package struct OpenLegPlace: Hashable, Sendable {
    /// The last one that was looked at.
    package struct Looked: Hashable, Sendable {
        package var user: UserID
        package var device: DeviceID
        package var position: LogPosition

        package init(user: UserID, device: DeviceID, position: LogPosition) {
            self.user = user
            self.device = device
            self.position = position
        }
    }

    /// From 0 on.
    package var slot: Int
    package var last: Looked?

    package init(slot: Int, last: Looked? = nil) {
        self.slot = slot
        self.last = last
    }
}

package struct OpenLegPage: Hashable, Sendable {
    /// Each with one leg, which is open; by person as they are in memory, device, and place in the log.
    package var legs: [MessageLegs] = []
    /// Nil if everybody was looked at.
    package var next: OpenLegPlace?
}

extension ServerCore {
    /// Searches for open legs. Everybody with an open leg is in memory, but for people whom a newly started server has not come to yet.
    func openLegs(_ question: OpenLegQuestion) -> OpenLegPage {
        var search = OpenLegStep(question)
        let first = max(0, question.after?.slot ?? 0)
        for slot in self.people.indices.dropFirst(first) {
            guard search.mayLook(from: OpenLegPlace(slot: slot, last: slot == first ? question.after?.last : nil))
            else { break }
            guard self.people[slot].state.key.app == question.app else { continue }
            self.people[slot].searchOpenLegs(&search)
            if search.page.next != nil { break }
        }
        return search.page
    }
}

extension Person {
    fileprivate func searchOpenLegs(_ search: inout OpenLegStep) {
        let user = self.state.key.user
        let last = search.place.last.flatMap { $0.user == user ? $0 : nil }
        // Looked at in place: a device is large.
        for index in self.devices.indices where !self.devices[index].legs.isEmpty {
            let device = self.devices[index].id
            var from = 0
            if let last, device <= last.device {
                guard device == last.device else { continue }
                from = self.devices[index].legs.place(after: last.position)
            }
            for leg in from..<self.devices[index].legs.count {
                guard search.mayLook(from: search.place) else { return }
                var found = self.devices[index].openLeg(at: leg)
                found.notBefore = found.steps.waitsUntil(found.wait)
                guard search.add(found, self.devices[index].legs[leg].subject) else { return }
                search.place = OpenLegPlace(
                    slot: self.state.slot, last: .init(user: user, device: device, position: found.position))
            }
        }
    }
}

/// One step, as it goes on.
private struct OpenLegStep {
    let question: OpenLegQuestion
    var page = OpenLegPage()
    /// Up to where it has looked.
    var place = OpenLegPlace(slot: 0)
    private var looks = 0

    init(_ question: OpenLegQuestion) { self.question = question }

    /// Counts a look; false, with where the next step goes on, if the step has had all of its looks.
    mutating func mayLook(from place: OpenLegPlace) -> Bool {
        self.place = place
        guard self.looks < self.question.looksMax else {
            self.page.next = place
            return false
        }
        self.looks += 1
        return true
    }

    /// False, with where the next step goes on, if there is no room for it.
    mutating func add(_ open: OpenLeg, _ subject: Leg.Subject) -> Bool {
        let id = open.leg.message
        guard id >= self.question.oldest, id < self.question.newest, self.question.filter.admits(open) else {
            return true
        }
        guard self.page.legs.count < self.question.limit else {
            self.page.next = self.place
            return false
        }
        let about = MessageLegs.About(subject.traced(in: self.question.app))
        self.page.legs.append(
            MessageLegs(id: id, place: id.rawValue, about: about, open: [open], ended: [], receipts: []))
        return true
    }
}

extension Leg.Subject {
    fileprivate func traced(in app: AppID) -> MessageTrace.Subject {
        switch self {
        case .message(let shared): .message(shared.message)
        case .recall(let recall, _): .recall(recall, app: app)
        }
    }
}

extension LegSteps {
    /// When the wait that it is in ends by itself; nil if another event ends it.
    fileprivate func waitsUntil(_ wait: LegWait) -> Int64? {
        guard case .waited(wait, let until, _)? = self.all.last(where: \.isWait) else { return nil }
        return until
    }
}

extension LegStep {
    fileprivate var isWait: Bool { if case .waited = self { true } else { false } }
}
