import Foundation

/// The server's business time, as an admin reads and moves it.
struct BenchClock: Sendable {
    struct Reading: Decodable, Sendable {
        let now: Int64
        /// Jobs that are due; above 0 where a move did not come to its end.
        let pending: Int64
    }

    /// The outcome of one request to move the clock.
    enum Move: Sendable {
        case moved(Reading)
        /// Another move holds the clock, the server is busy, or the time has passed.
        case later
        /// The connection ended without an answer.
        case gone
    }

    let port: UInt16
    let adminKey: String

    private struct Answer: Decodable { let data: Reading }
    private struct Goal: Encodable { let to: Int64 }

    /// The seconds for which an answer is waited for: a move ends by itself after 60.
    private static let patience = 120
    private static let path = "/v1/admin/clock"

    func read() async throws -> Reading {
        let request = Request(
            method: "GET", path: Self.path, headers: ["Authorization": "Bearer \(adminKey)"], body: "")
        guard let reply = await HTTPConnection(port: port).send(request), reply.status == 200 else {
            throw Server.Failure(description: "the clock cannot be read")
        }
        return try JSONDecoder().decode(Answer.self, from: reply.body).data
    }

    /// Asks once to move the clock to a time.
    func move(to time: Int64) async throws -> Move {
        let request = try Request.post(Self.path, bearer: adminKey, Goal(to: time))
        guard let reply = await HTTPConnection(port: port, patience: Self.patience).send(request) else { return .gone }
        switch reply.status {
        case 200: return .moved(try JSONDecoder().decode(Answer.self, from: reply.body).data)
        case 400, 409, 429, 503: return .later
        default:
            let text = String(decoding: reply.body.prefix(300), as: UTF8.self)
            throw Server.Failure(description: "a move of the clock is answered \(reply.status) \(text)")
        }
    }

    /// Moves the clock until it has come to a time and nothing is left to do there.
    ///
    /// - Throws: an error where the server is gone, or does not come that far in time.
    func advance(to time: Int64, within limit: Duration = .seconds(1_800)) async throws {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            // Real time goes on, too: the goal must lie ahead.
            let goal = max(time, try await read().now + 2)
            switch try await move(to: goal) {
            case .moved(let reading) where reading.pending == 0 && reading.now >= time: return
            case .moved, .later: try await Task.sleep(for: .milliseconds(100))
            case .gone: throw Server.Failure(description: "the server did not answer while it moved the clock")
            }
        }
        throw Server.Failure(description: "the clock did not come to \(time) in time")
    }
}
