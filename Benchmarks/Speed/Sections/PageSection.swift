import Foundation
import NIOCore
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The cashier's page of a session, beside the framework's own empty route.
struct PageSection {
    let bench: Workbench
    let engine: Engine

    private static let sessions = 200

    func figures() async throws -> [Figure] {
        let desk = try Installation(bench, on: engine)
        defer { desk.remove() }
        try desk.addAccount("box", Installation.sandbox)
        let empty = try await ServerProcess.startEmpty(bench)
        return try await empty.whileRunning { empty in
            try await desk.whileServing { desk in
                var pages: [(path: String, cookie: String)] = []
                for _ in 0..<Self.sessions { pages.append(try await Self.page(of: Customer.new(), port: desk.port)) }
                return try await figures(empty, desk, pages)
            }
        }
    }

    private func figures(
        _ empty: ServerProcess, _ desk: ServerProcess, _ pages: [(path: String, cookie: String)]
    ) async throws -> [Figure] {
        func plan(_ requests: [ByteBuffer]) -> LoadPlan {
            LoadPlan(clients: 16, length: .seconds(bench.seconds), requests: requests)
        }
        let nothing = pages.map { RequestBytes.get("/", port: empty.port, cookie: $0.cookie) }
        let shown = pages.map { RequestBytes.get($0.path, port: desk.port, cookie: $0.cookie) }
        let measured = try await Measurement.inTurn([
            { try await empty.measure(plan(nothing)) }, { try await desk.measure(plan(shown)) },
        ])
        func figure(_ name: String, _ measurement: Measurement, base: Figure.Base? = nil) -> Figure {
            Figure(
                section: .page, name: name, value: measurement.perCPUSecond, unit: "/CPU s",
                perSecond: measurement.perSecond, base: base)
        }
        return [
            figure("empty route, 16 clients", measured[0]),
            figure(
                "the cashier's page, \(engine), 16 clients", measured[1],
                base: .figure("the empty route", measured[0].perCPUSecond)),
        ]
    }

    /// Makes a session and returns its page's path and cookie.
    private static func page(of customer: Customer, port: UInt16) async throws -> (path: String, cookie: String) {
        struct Reply: Decodable {
            struct Made: Decodable {
                let id: String
                let token: String
            }

            let data: Made
        }
        guard let url = URL(string: "http://127.0.0.1:\(port)/v1/public/sessions") else {
            throw BenchFailure(description: "no address")
        }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"purpose":"checkout","skus":["vip_month"],"currency":"CNY"}"#.utf8)
        request.setValue("Bearer \(customer.token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (body, _) = try await URLSession.shared.data(for: request)
        let made = try JSONDecoder().decode(Reply.self, from: body).data
        return ("/pay/s/\(made.id)", "paydesk_session=\(made.token)")
    }
}
