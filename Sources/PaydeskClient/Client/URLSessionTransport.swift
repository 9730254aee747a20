public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The way to the server by Foundation's `URLSession`, without cookies and caches.
public struct URLSessionTransport: ClientTransport {
    /// The seconds without a byte after which an answer is given up; a stream has a comment every 15 seconds.
    private static let patience: TimeInterval = 45

    private let session: URLSession

    public init() {
        session = URLSession(
            configuration: Self.configuration, delegate: RedirectionRefuser(), delegateQueue: nil)
    }

    public func send(_ request: ClientRequest) async throws -> ClientReply {
        do {
            let (body, response) = try await session.data(for: Self.urlRequest(request))
            guard let reply = ClientReply(response, body) else { throw PaydeskError.foreignAnswer(status: 0) }
            return reply
        } catch let error as PaydeskError {
            throw error
        } catch {
            try Task.checkCancellation()
            throw PaydeskError.noAnswer(error.localizedDescription)
        }
    }

    public func stream(_ request: ClientRequest) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            let session = URLSession(
                configuration: Self.configuration, delegate: StreamReceiver(continuation: continuation),
                delegateQueue: nil)
            let task = session.dataTask(with: Self.urlRequest(request))
            continuation.onTermination = { _ in
                task.cancel()
                session.finishTasksAndInvalidate()
            }
            task.resume()
        }
    }

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = patience
        return configuration
    }

    private static func urlRequest(_ request: ClientRequest) -> URLRequest {
        var made = URLRequest(url: request.url, timeoutInterval: patience)
        made.httpMethod = request.method
        made.httpBody = request.body
        for (name, value) in request.headers { made.setValue(value, forHTTPHeaderField: name) }
        return made
    }
}

extension ClientReply {
    fileprivate init?(_ response: URLResponse, _ body: Data) {
        guard let response = response as? HTTPURLResponse else { return nil }
        let headers = response.allHeaderFields.map { ("\($0.key)".lowercased(), "\($0.value)") }
        self.init(
            status: response.statusCode, headers: Dictionary(headers) { first, _ in first }, body: body)
    }
}

/// Follows no redirection: the API has none, and the user's token is for the server alone.
private final class RedirectionRefuser: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
        newRequest _: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// Hands the pieces of an answer on as they come.
private final class StreamReceiver: NSObject, URLSessionDataDelegate {
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation

    init(continuation: AsyncThrowingStream<Data, any Error>.Continuation) { self.continuation = continuation }

    func urlSession(
        _: URLSession, dataTask _: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        guard let reply = ClientReply(response, Data()), reply.status == 200 else {
            let refused = ClientReply(response, Data()).map(AnswerReader.refusal)
            continuation.finish(throwing: refused ?? PaydeskError.foreignAnswer(status: 0))
            return completionHandler(.cancel)
        }
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask _: URLSessionDataTask, didReceive data: Data) { continuation.yield(data) }

    func urlSession(_: URLSession, task _: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error.map { PaydeskError.noAnswer($0.localizedDescription) })
    }
}
