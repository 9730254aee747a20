/// Lets so many tests in at a time: more would only wait for the same cores and take the database's connections.
package actor Turnstile {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ places: Int) { free = places }

    package func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// The place goes to who waits longest.
    package func leave() {
        guard waiting.isEmpty else {
            waiting.removeFirst().resume()
            return
        }
        free += 1
    }
}
