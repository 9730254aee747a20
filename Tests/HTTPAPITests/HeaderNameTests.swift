import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite("Names of header fields")
struct HeaderNameTests {
    @Test(arguments: [
        (HTTPField.Name.requestID, "X-Request-Id"), (.idempotencyKey, "Idempotency-Key"),
        (.idempotencyReplayed, "Idempotency-Replayed"), (.referrerPolicy, "Referrer-Policy"),
    ])
    func `each is what it says`(_ name: HTTPField.Name, _ text: String) { #expect(name.rawName == text) }
}
