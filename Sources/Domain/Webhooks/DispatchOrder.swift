/// The order in which committed events get their global number.
package enum DispatchOrder {
    /// The members of an event that decide its position in the outbox.
    package protocol Place {
        /// Sorts by the clock of the node that made it.
        var id: ID<Event> { get }
        var subject: String { get }
        /// Its number among its subject's events.
        var sequence: Int64 { get }
        /// True where the event of this subject that comes just before has no number yet either.
        var follows: Bool { get }
    }

    /// Those whose turn it is: by id, except that a subject's events follow its own numbers.
    ///
    /// Two nodes' clocks may disagree, the numbers cannot. An event that follows one that is not among these waits for it.
    package static func arranged<Item: Place>(_ events: [Item]) -> [Item] {
        let sorted = events.sorted { $0.id < $1.id }
        var places = sorted.map(Optional.some)
        for (_, indices) in Dictionary(grouping: sorted.indices, by: { sorted[$0].subject }) {
            var ready: [Item] = []
            for event in indices.map({ sorted[$0] }).sorted(by: { $0.sequence < $1.sequence }) {
                guard !event.follows || ready.last?.sequence == event.sequence - 1 else { break }
                ready.append(event)
            }
            for (position, index) in indices.enumerated() {
                places[index] = position < ready.count ? ready[position] : nil
            }
        }
        return places.compactMap(\.self)
    }
}
