import TidingsModel

extension ReferenceStore {
    /// The people, each looked at and changed where it lies: a dictionary gives a copy of the whole person out of each look.
    struct People: Hashable, Sendable {
        private var places: [UserKey: Int] = [:]
        private var all: [Person] = []
        /// By their places.
        private(set) var keys: [UserKey] = []

        /// Where a person lies; nil for somebody the store has never heard of. A place is never given to somebody else.
        func place(of key: UserKey) -> Int? { self.places[key] }

        /// Where a person lies, who is made if there is none.
        mutating func place(making key: UserKey) -> Int {
            if let place = self.places[key] { return place }
            self.places[key] = self.all.count
            self.all.append(Person())
            self.keys.append(key)
            return self.all.count - 1
        }

        var indices: Range<Int> { self.all.indices }

        /// The person at a place.
        subscript(place: Int) -> Person {
            _read { yield self.all[place] }
            _modify { yield &self.all[place] }
        }

        /// What is asked about a person; nil for nobody.
        func look<Answer>(_ key: UserKey, _ ask: (Person) -> Answer) -> Answer? {
            self.places[key].map { ask(self.all[$0]) }
        }

        /// The same people, whoever came first.
        static func == (left: Self, right: Self) -> Bool {
            left.all.count == right.all.count
                && left.all.indices.allSatisfy { place in
                    right.places[left.keys[place]].map { right.all[$0] == left.all[place] } ?? false
                }
        }

        func hash(into hasher: inout Hasher) { hasher.combine(self.all.count) }
    }

    /// The ends of a message's legs, by leg.
    struct Ends: Hashable, Sendable {
        /// Sorted: a message to a thousand people is traced as often as it has legs.
        private(set) var sorted: [EndedLeg] = []

        /// Where a leg's end is, or would be.
        private func place(of leg: LegID) -> Int {
            var (low, high) = (0, self.sorted.count)
            while low < high {
                let middle = (low + high) / 2
                if self.sorted[middle].leg < leg { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// How a leg ended; nil if it did not.
        func end(of leg: LegID) -> LegEnd? {
            let place = self.place(of: leg)
            return place < self.sorted.count && self.sorted[place].leg == leg ? self.sorted[place].end : nil
        }

        /// Keeps an end unless the leg has one.
        mutating func keep(_ end: EndedLeg) {
            let place = self.place(of: end.leg)
            guard place == self.sorted.count || self.sorted[place].leg != end.leg else { return }
            self.sorted.insert(end, at: place)
        }
    }
}
