import Testing

@testable import Domain

@Suite("Traces of callers")
struct TraceContextTests {
    private static let id = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"

    @Test(arguments: [
        ("00-\(id)-\(span)-01", "\(id)-01"), ("00-\(id)-\(span)-00", "\(id)-00"), ("00-\(id)-\(span)-03", "\(id)-03"),
        // Flags that this version does not know are dropped.
        ("00-\(id)-\(span)-ff", "\(id)-03"),
        // A later version may have more fields.
        ("01-\(id)-\(span)-01", "\(id)-01"), ("cc-\(id)-\(span)-01-more", "\(id)-01"),
    ])
    func `a header is read and stored`(_ header: String, _ stored: String) throws {
        let trace = try #require(TraceContext(traceparent: header))
        #expect(trace.id == Self.id && trace.stored == stored)
        #expect(TraceContext(stored: stored) == trace)
    }

    @Test(arguments: [
        "", "00", "00-\(id)-\(span)", "ff-\(id)-\(span)-01", "00-\(id)-\(span)-01-more", "00-\(id)-\(span)-1",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(id)-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-\(span)-01", "00-\(id)x-\(span)-01", "00_\(id)_\(span)_01",
        "00-\(id)-\(span)-01, 00-\(id)-\(span)-01", "0g-\(id)-\(span)-01", "00-\(id)-\(span)-0\u{e9}",
    ])
    func `a header that is not well formed is none`(_ header: String) {
        #expect(TraceContext(traceparent: header) == nil)
    }

    @Test(arguments: ["", id, "\(id)-1", "\(id)-01-01"])
    func `what was not stored by this release is none`(_ stored: String) {
        #expect(TraceContext(stored: stored) == nil)
    }

    @Test func `a call to another service is a span of its own`() throws {
        let trace = try #require(TraceContext(traceparent: "00-\(Self.id)-\(Self.span)-01"))
        let counting = RandomSource { count in (1...count).map { UInt8($0) } }
        #expect(trace.traceparent(counting) == "00-\(Self.id)-0102030405060708-01")
        let zeros = RandomSource { Array(repeating: 0, count: $0) }
        #expect(TraceContext(traceparent: trace.traceparent(zeros)) == trace)
    }
}
