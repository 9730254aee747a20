/// The progress of an operation that reads the whole database.
package struct ReadingProgress: Sendable {
    private let show: @Sendable (_ part: String, _ count: Int) -> Void

    /// - Parameter show: takes the name of the part that is being read, such as `orders`, and the number of its rows so
    ///   far.
    package init(show: @escaping @Sendable (_ part: String, _ count: Int) -> Void = { _, _ in }) { self.show = show }

    /// Begins a part.
    package func begin(_ part: String) -> Part { Part(name: part, show: show) }

    /// The rows of one part.
    package struct Part: Sendable {
        fileprivate let name: String
        fileprivate let show: @Sendable (_ part: String, _ count: Int) -> Void
        private var count = 0

        fileprivate init(name: String, show: @escaping @Sendable (_ part: String, _ count: Int) -> Void) {
            self.name = name
            self.show = show
            show(name, 0)
        }

        package mutating func add(_ rows: Int) {
            count += rows
            show(name, count)
        }
    }
}
