import AsyncHTTPClient
import Crypto
import Domain
import Foundation
import Gateway
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Store

/// The socket beside an embedded database, over which commands reach the process that owns it; only its user may open
/// it.
struct ControlSocket {
    /// `sun_path` of a UNIX socket address holds 108 bytes with its end (unix(7)).
    private static let pathLimit = 100
    private static let bodyLimit = 8 << 20

    let path: String

    /// - Returns: nil for PostgreSQL, which needs no such socket.
    init?(_ url: DatabaseURL) {
        guard case .sqlite(let file) = url else { return nil }
        let absolute = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        let beside = absolute + ".sock"
        if beside.utf8.count <= Self.pathLimit {
            path = beside
        } else {
            let hash = Hex.encoded(SHA256.hash(data: Data(absolute.utf8)).prefix(8))
            path = FileManager.default.temporaryDirectory.appendingPathComponent("paydesk-\(hash).sock").path
        }
    }

    /// The service that answers commands; the umask of the process restricts the socket to its user.
    func server(_ gateway: Gateway, logger: Logger) -> some ApplicationProtocol {
        unlink(path)
        let router = Router(context: BasicRequestContext.self)
        router.post("/command") { request, _ in
            let body = try await request.body.collect(upTo: Self.bodyLimit)
            let command = try JSONDecoder().decode(AdminCommand.self, from: body)
            let result = try JSONEncoder().encode(await command.run(gateway))
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(data: result)))
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .unixDomainSocket(path: path)),
            logger: logger)
    }

    /// Sends a command to the owner.
    ///
    /// - Throws: exit 3 when the owner does not answer, or when the socket is not this user's.
    func send(_ command: AdminCommand) async throws(CommandError) -> AdminResult {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType == .typeSocket,
            attributes?[.ownerAccountID] as? UInt == UInt(geteuid())
        else {
            throw .database("paydesk: the database is owned by a process that takes no commands at \(path)")
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        do {
            var request = HTTPClientRequest(url: Self.url(path))
            request.method = .POST
            request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(command)))
            let response = try await client.execute(request, timeout: .seconds(120))
            let body = try await response.body.collect(upTo: Self.bodyLimit)
            try await client.shutdown()
            return try JSONDecoder().decode(AdminResult.self, from: body)
        } catch {
            try? await client.shutdown()
            throw .database("paydesk: the process that owns the database did not answer at \(path)")
        }
    }

    private static func url(_ path: String) -> String {
        "http+unix://\(PercentEncoding.encoded(path))/command"
    }
}
