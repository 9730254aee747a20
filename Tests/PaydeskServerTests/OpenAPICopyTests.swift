import Domain
import Foundation
import TestSupport
import Testing

/// Tests the copy of the OpenAPI document in `docs`, with which the documents' examples are compared.
struct OpenAPICopyTests {
    private static let copy = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/openapi.json")

    @Test func `docs has the document that the server serves; make openapi writes it`() async throws {
        let installation = try Installation()
        try await installation.whileServing { _ in
            let reply = try #require(await LoopbackHTTP.send("GET", "/openapi.json", port: installation.port))
            try #require(reply.status == 200)
            let served = try JSONDecoder().decode(JSONValue.self, from: Data(reply.body.utf8))
            let kept = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: Self.copy))
            // Compared first, because the documents are too long for a message.
            let isSame = served == kept
            #expect(isSame)
        }
    }
}
