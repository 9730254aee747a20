import Domain

/// Reads a server's events in their order.
struct EventFeedReader: Sendable {
    private static let path = "/v1/partner/events"
    /// The seconds for which a call waits for the next event.
    private static let wait: Int64 = 20
    private static let pageSize = 100

    /// Calls the server with these parameters.
    let call: @Sendable (_ path: String, _ query: KeyValuePairs<String, String?>) async -> ServerClient.Reply
    let pause: @Sendable (Duration) async -> Void

    init(
        pause: @escaping @Sendable (Duration) async -> Void,
        call: @escaping @Sendable (_ path: String, _ query: KeyValuePairs<String, String?>) async -> ServerClient.Reply
    ) {
        self.call = call
        self.pause = pause
    }

    /// Waits for the next page.
    ///
    /// - Parameter isMissing: is told once while the server does not answer.
    /// - Returns: nil where the task is cancelled.
    /// - Throws: exit 1 for a refusal that a repetition does not mend.
    func next(
        after seq: Int64, isMissing: @Sendable (String) -> Void
    ) async throws(CommandError) -> EventsPage? {
        var wasMissing = false
        while !Task.isCancelled {
            let reply = await page(after: seq, limit: Self.pageSize, wait: Self.wait)
            if Task.isCancelled { return nil }
            switch reply {
            case .data(let data): return EventsPage(data)
            case .refused(429, _, _, let seconds): await pause(.seconds(seconds ?? 1))
            case .refused(let status, _, let message, _) where status >= 500:
                if !wasMissing { isMissing("the server answered \(status): \(message)") }
                wasMissing = true
                await pause(.seconds(1))
            case .refused: _ = try reply.value
            case .unreachable(let why):
                if !wasMissing { isMissing(why) }
                wasMissing = true
                await pause(.seconds(1))
            }
        }
        return nil
    }

    /// Reads what is there, without waiting.
    func rest(after seq: Int64) async throws(CommandError) -> EventsPage {
        EventsPage(try await page(after: seq, limit: Self.pageSize, wait: 0).value)
    }

    /// Finds the number of the newest event that the key may read; 0 without one.
    ///
    /// The API has no call for it: it is where nothing follows any more, which is found by steps that double and then
    /// halve.
    func newest() async throws(CommandError) -> Int64 {
        guard var low = try await follower(of: 0) else { return 0 }
        var step: Int64 = 1
        while let later = try await follower(of: low + step) {
            low = later
            step *= 2
        }
        var high = low + step
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if let later = try await follower(of: middle) { low = later } else { high = middle }
        }
        return try await follower(of: low) ?? low
    }

    /// Returns the number of something after a number; nil where nothing follows.
    private func follower(of seq: Int64) async throws(CommandError) -> Int64? {
        while true {
            let reply = await page(after: seq, limit: 1, wait: 0)
            if case .refused(429, _, _, let seconds) = reply, !Task.isCancelled {
                await pause(.seconds(seconds ?? 1))
                continue
            }
            let page = EventsPage(try reply.value)
            return page.events.first?.seq ?? page.next
        }
    }

    private func page(after seq: Int64, limit: Int, wait: Int64) async -> ServerClient.Reply {
        await call(Self.path, ["after": String(seq), "limit": String(limit), "wait": String(wait)])
    }
}
