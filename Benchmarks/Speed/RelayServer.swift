import ArgumentParser
import AsyncHTTPClient
import Hummingbird
import NIOCore
import NIOHTTP1

/// The framework and its HTTP client alone: one route that passes on its request and the reply, and keeps nothing.
struct RelayServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Hands requests on: what a checkout adds is shown beside.")

    @Option(help: "The port of 127.0.0.1.") var port: Int
    @Option(help: "The address that is asked.") var upstream: String

    func run() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4_096
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let upstream = upstream
        let router = Router()
        router.get("/") { _, _ in HTTPResponse.Status.ok }
        router.post("/") { request, _ in
            var call = HTTPClientRequest(url: upstream)
            call.method = .POST
            call.headers = ["Content-Type": "application/x-www-form-urlencoded"]
            call.body = .bytes(try await request.body.collect(upTo: 4_096))
            let reply = try await client.execute(call, timeout: .seconds(30))
            let body = try await reply.body.collect(upTo: 4_096)
            return Response(
                status: .init(code: Int(reply.status.code)), headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: body))
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
        try await client.shutdown()
    }
}
