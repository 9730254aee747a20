import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird

/// What a route answers.
enum Answer: Sendable {
    /// The `data` of the envelope, as JSON bytes.
    case data(Data)
    /// `data` that names users as the app does, none of which is taken for an internal id; the answer to a GET only.
    case named(Data)
    /// `data` with an ETag over its bytes.
    case tagged(Data)
    /// Something without the envelope.
    case raw(status: HTTPResponse.Status, contentType: String, body: Data, headers: [HTTPField])
    /// Something without the envelope that is sent piece by piece as the client takes it; the answer to a GET only.
    case streamed(contentType: String, body: ResponseBody, headers: [HTTPField])

    /// Encodes the `data` of the envelope: keys sorted, so that equal values have equal bytes.
    static func json(_ value: some Encodable) throws(GatewayError) -> Answer { .data(try encode(value)) }

    /// ``json(_:)`` of what names users as the app does.
    static func namedJSON(_ value: some Encodable) throws(GatewayError) -> Answer { .named(try encode(value)) }

    /// A page of a list, cut where its bytes are too many; `next_cursor` goes on behind what it shows.
    static func page(_ page: Page<some Encodable>) async throws(GatewayError) -> Answer {
        .data(try await encode(page))
    }

    /// ``page(_:)`` of what names users as the app does.
    static func namedPage(_ page: Page<some Encodable>) async throws(GatewayError) -> Answer {
        .named(try await encode(page))
    }

    static func encode(_ value: some Encodable) throws(GatewayError) -> Data {
        do { return try JSONText.encoded(value) } catch { throw .internalError }
    }

    /// So many items are encoded where the request runs; more of them would hold up its event loop.
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
            // The first is shown whatever its size, so that a reader comes on.
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

/// A list that has no further pages.
struct Listing<Item: Encodable & Sendable>: Encodable {
    let items: [Item]
    @Nullable private(set) var next_cursor: String?

    init(items: [Item]) {
        self.items = items
        next_cursor = nil
    }
}
