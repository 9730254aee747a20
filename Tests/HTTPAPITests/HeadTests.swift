import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("HEAD")
struct HeadTests {
    /// Paths, whether a user makes the request, and the status of a GET.
    static let paths: [(path: String, isUser: Bool, status: Int)] = [
        ("/healthz", false, 200), ("/version", false, 200), ("/openapi.json", false, 200),
        ("/v1/public/orders", true, 200), ("/v1/public/orders", false, 401), ("/v1/public/orders/ord_x", true, 404),
        // The route accepts only POST.
        ("/v1/public/checkout", true, 405), ("/nothing", false, 404),
    ]

    @Test(arguments: paths)
    func `a HEAD is answered as its GET, without the body`(
        _ path: String, _ isUser: Bool, _ status: Int
    ) async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            let bearer = isUser ? token : nil
            let whole = try await counter.get(path, bearer)
            let head = try await counter.send(.head, path, bearer)
            #expect(whole.status == status && !whole.text.isEmpty)
            #expect(head.status == status && head.text.isEmpty)
            #expect(head.header("Content-Length") == String(whole.text.utf8.count))
            for name in ["Content-Type", "Cache-Control", "WWW-Authenticate"] {
                #expect(head.header(name) == whole.header(name), "\(name)")
            }
        }
    }

    @Test
    func `nothing is sent of what would be streamed`() async throws {
        try await withCounter { counter in
            let path = "/v1/admin/export/orders.csv"
            let whole = try await counter.get(path, counter.adminKey)
            let head = try await counter.send(.head, path, counter.adminKey)
            #expect(whole.status == 200 && !whole.text.isEmpty)
            #expect(head.status == 200 && head.text.isEmpty)
            #expect(head.header("Content-Type") == whole.header("Content-Type"))
        }
    }

    @Test
    func `a HEAD counts like its GET`() async throws {
        var setup = CounterSetup()
        setup.limits.userPerSecond = 1
        try await withCounter(setup) { counter in
            let (path, token) = ("/v1/public/orders", try await counter.token())
            #expect(try await counter.send(.head, path, token).status == 200)
            let refused = try await counter.send(.head, path, token)
            #expect(refused.status == 429 && refused.text.isEmpty && refused.header("Retry-After") == "1")
            #expect(try await counter.get(path, token).status == 429)
        }
    }
}
