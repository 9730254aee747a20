/// The order in which committed events get their global number.
package enum DispatchOrder {
    /// What of an event decides its place.
    package protocol Place {
        /// Sorts by the clock of the node that made it.
        var id: ID<Event> { get }
        var subject: String { get }
        /// Its number among its subject's events.
        var sequence: Int64 { get }
    }

    /// By id, except that a subject's events follow its own numbers: two nodes' clocks may disagree, the numbers cannot.
    package static func arranged<Item: Place>(_ events: [Item]) -> [Item] {
        var places = events.sorted { $0.id < $1.id }
        let positions = Dictionary(grouping: places.indices) { places[$0].subject }
        for (_, indices) in positions where indices.count > 1 {
            let ordered = indices.map { places[$0] }.sorted { $0.sequence < $1.sequence }
            for (index, event) in zip(indices, ordered) { places[index] = event }
        }
        return places
    }
}
