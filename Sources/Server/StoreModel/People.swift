import TidingsModel

extension ReferenceStore {
    /// People are read and changed in place: a dictionary would copy the whole person at each look.
    struct People: Hashable, Sendable {
        private var places: [UserKey: Int] = [:]
        private var all: [Person] = []
        private(set) var keys: [UserKey] = []

        /// A place is never given to somebody else.
        func place(of key: UserKey) -> Int? { self.places[key] }

        mutating func place(making key: UserKey) -> Int {
            if let place = self.places[key] { return place }
            self.places[key] = self.all.count
            self.all.append(Person())
            self.keys.append(key)
            return self.all.count - 1
        }

        var indices: Range<Int> { self.all.indices }

        subscript(place: Int) -> Person {
            _read { yield self.all[place] }
            _modify { yield &self.all[place] }
        }

        func read<Answer>(_ key: UserKey, _ read: (Person) -> Answer) -> Answer? {
            self.places[key].map { read(self.all[$0]) }
        }

        static func == (left: Self, right: Self) -> Bool {
            left.all.count == right.all.count
                && left.all.indices.allSatisfy { place in
                    right.places[left.keys[place]].map { right.all[$0] == left.all[place] } ?? false
                }
        }

        func hash(into hasher: inout Hasher) { hasher.combine(self.all.count) }
    }

    struct Ends: Hashable, Sendable {
        /// Sorted: a message to a thousand people is traced as often as it has legs.
        private(set) var sorted: [EndedLeg] = []

        private func place(of leg: LegID) -> Int { self.sorted.sortedPlace { $0.leg < leg } }

        func end(of leg: LegID) -> LegEnd? {
            let place = self.place(of: leg)
            return place < self.sorted.count && self.sorted[place].leg == leg ? self.sorted[place].end : nil
        }

        mutating func insert(_ end: EndedLeg) {
            let place = self.place(of: end.leg)
            guard place == self.sorted.count || self.sorted[place].leg != end.leg else { return }
            self.sorted.insert(end, at: place)
        }
    }
}
