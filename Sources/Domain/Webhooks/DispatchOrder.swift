/// The order in which committed events get their global number.
package enum DispatchOrder {
    /// The members of an event that decide its position in the outbox.
    package protocol Place {
        /// The event's id, which sorts by the clock of the node that made it.
        var id: ID<Event> { get }
        var subject: String { get }
        /// Its number among its subject's events.
        var sequence: Int64 { get }
        /// True where the event of this subject just before it has no global number yet either.
        var follows: Bool { get }
    }

    /// Returns the events that can be numbered now, in order of id, except that a subject's events keep their own
    /// order.
    ///
    /// The clocks of two nodes may disagree; the numbers within a subject cannot. An event whose predecessor has no
    /// number and is not among these waits for it.
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
