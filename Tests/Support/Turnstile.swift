/// Limits the number of tests that run at once: more would only wait for the same cores and take the database's
/// connections.
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

    /// Gives the place to the task that has waited longest.
    package func leave() {
        guard waiting.isEmpty else {
            waiting.removeFirst().resume()
            return
        }
        free += 1
    }
}
