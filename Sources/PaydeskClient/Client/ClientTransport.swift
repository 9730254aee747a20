public import Foundation

/// A request of the client, by the path below the server's address.
public struct ClientRequest: Sendable {
    public var method: String
    public var url: URL
    public var headers: [String: String]
    public var body: Data?
}

/// An answer; the names of its headers are in lower case.
public struct ClientReply: Sendable {
    public var status: Int
    public var headers: [String: String]
    public var body: Data

    public init(status: Int, headers: [String: String], body: Data) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The way to the server.
public protocol ClientTransport: Sendable {
    /// Sends a request and waits for the whole answer.
    func send(_ request: ClientRequest) async throws -> ClientReply

    /// Sends a request and returns the pieces of its answer's body as they come.
    ///
    /// The stream throws a ``PaydeskError`` where the status is not 200, and where nothing came for 45 seconds.
    func stream(_ request: ClientRequest) -> AsyncThrowingStream<Data, any Error>
}
