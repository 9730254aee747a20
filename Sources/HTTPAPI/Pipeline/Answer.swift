import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird

/// The answer of a route.
enum Answer: Sendable {
    /// The `data` of the envelope, as JSON bytes.
    case data(Data)
    /// `data` with external user ids, in which no internal id is replaced; only in answers to GET.
    case named(Data)
    /// `data` with further headers of the answer; not under an idempotency key, which keeps none of them.
    case headed(Data, [HTTPField])
    /// `data` with an ETag over its bytes, and with the request's header that chose this form.
    case tagged(Data, vary: String? = nil)
    /// An answer without the envelope.
    case raw(status: HTTPResponse.Status, contentType: String, body: Data, headers: [HTTPField])
    /// An answer without the envelope that is sent piece by piece as the client reads it; only in answers to GET.
    case streamed(contentType: String, body: ResponseBody, headers: [HTTPField])

    /// Encodes the `data` of the envelope with sorted keys, so that equal values have equal bytes.
    static func json(_ value: some Encodable) throws(GatewayError) -> Answer { .data(try encode(value)) }

    /// Encodes `data` with external user ids, like ``json(_:)``.
    static func namedJSON(_ value: some Encodable) throws(GatewayError) -> Answer { .named(try encode(value)) }

    /// Encodes a page of a list, cut at the limit of bytes; its `next_cursor` continues after the last item that it
    /// has.
    static func page(_ page: Page<some Encodable>) async throws(GatewayError) -> Answer {
        .data(try await encode(page))
    }

    /// Encodes a page with external user ids, like ``page(_:)``.
    static func namedPage(_ page: Page<some Encodable>) async throws(GatewayError) -> Answer {
        .named(try await encode(page))
    }

    static func encode(_ value: some Encodable) throws(GatewayError) -> Data {
        do { return try JSONText.encoded(value) } catch { throw .internalError }
    }

    /// The number of items that are encoded on the event loop; more of them would block it for too long.
    private static let fewItems = 20

    private static func encode(_ page: Page<some Encodable>) async throws(GatewayError) -> Data {
        guard page.items.count > fewItems else { return try encodeNow(page) }
        return try await BackgroundThreads.encoding.run { () throws(GatewayError) in try encodeNow(page) }
    }

    private static func encodeNow(_ page: Page<some Encodable>) throws(GatewayError) -> Data {
        let encoder = JSONText.encoder()
        var json = Data(#"{"items":["#.utf8)
        var next = page.nextCursor
        for (index, item) in page.items.enumerated() {
            let text: Data
            do { text = try encoder.encode(item) } catch { throw .internalError }
            // The first item is sent whatever its size, so that a reader gets on.
            if index > 0, json.count + text.count > PageSize.bytes {
                next = page.cursors[index - 1]
                break
            }
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json.append(text)
        }
        json.append(contentsOf: #"],"next_cursor":"#.utf8)
        do { json.append(try encoder.encode(next)) } catch { throw .internalError }
        json.append(UInt8(ascii: "}"))
        return json
    }
}

/// A list without further pages.
struct Listing<Item: Encodable & Sendable>: Encodable {
    let items: [Item]
    @Nullable private(set) var next_cursor: String?

    init(items: [Item]) {
        self.items = items
        next_cursor = nil
    }
}
