package import AppStoreBox
import FoundationEssentials
package import ProviderKit
import Synchronization

/// The transport of an account that asks the App Store in a box of its own process: calls of Apple's server API stay
/// inside of the process, all others go on to the network.
package final class BoxTransport: HTTPTransport {
    private let address: String
    private let beyond: any HTTPTransport
    private let api = Mutex<ServerAPI?>(nil)

    /// - Parameter address: the base URL of the box's server API, without a slash at its end.
    package init(address: String, beyond: any HTTPTransport) {
        self.address = address
        self.beyond = beyond
    }

    /// Connects the box, which is made after the accounts that call it.
    package func connect(_ api: ServerAPI) { self.api.withLock { $0 = api } }

    package func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        guard request.url.hasPrefix(address + "/") else { return try await beyond.send(request) }
        let parts = request.url.dropFirst(address.count).split(separator: "?", maxSplits: 1)
        guard let api = api.withLock(\.self), let path = parts.first.map(String.init),
            ServerAPIRequest.isServerAPI(path)
        else { throw .notSent }
        let asked = ServerAPIRequest(
            method: request.method, path: path, query: parts.count == 2 ? String(parts[1]) : "",
            authorization: request.headers.first { $0.name.lowercased() == "authorization" }?.value,
            body: Array(request.body))
        let answer: ServerAPIAnswer
        // The store did not answer, as a service behind a network may not.
        do { answer = try await api.answer(asked) } catch { throw .outcomeUnknown }
        return IncomingReply(
            status: answer.status, headers: answer.headers.map { (name: $0.key.lowercased(), value: $0.value) },
            body: Data(answer.body))
    }
}
