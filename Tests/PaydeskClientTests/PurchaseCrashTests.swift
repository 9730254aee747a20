import Foundation
import TestSupport
import Testing

@testable import PaydeskClient

@Suite("A device that is killed at any step of a purchase")
struct PurchaseCrashTests {
    private struct Sold: Codable {
        var id: String
        var product: String
        var jws: String
        var token: String
        var isSold = false
        var isFinished = false
    }

    /// Runs the device until it ends.
    ///
    /// - Returns: the exit status, or minus the number of a signal.
    private static func run(_ server: DeskServer, _ folder: URL, step: Int, _ mode: String) async throws -> Int32 {
        let device = try SpawnedProgram(
            [
                try DeskServer.program("paydesk-device"), server.url.absoluteString, DeskServer.token("alice"),
                folder.path, String(step), mode,
            ], in: folder.path, name: UUID().uuidString, environment: DeskServer.environment(folder))
        return try await device.wait()
    }

    private static func store(_ folder: URL) throws -> Sold {
        let content = try Data(contentsOf: folder.appendingPathComponent("app-store.json"))
        return try #require(try JSONDecoder().decode([Sold].self, from: content).first)
    }

    @Test func `no purchase is lost or granted twice, whatever step it dies at`() async throws {
        try await DeskServer.with { server in
            var (step, deaths) = (0, 0)
            while true {
                let folder = server.folder.appendingPathComponent("device\(step)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let sale = try await server.sell(to: "alice")
                let sold = Sold(id: sale.id, product: sale.product, jws: sale.jws, token: sale.token.uuidString)
                try JSONEncoder().encode([sold]).write(to: folder.appendingPathComponent("app-store.json"))

                let first = try await Self.run(server, folder, step: step, "purchase")
                let orders = try await server.orders("alice")
                // The fifth step is the one before it is sent.
                if step < 5 { #expect(orders == step, "it came by another way") }
                if try Self.store(folder).isFinished { #expect(orders == step + 1, "finished before it was stored") }
                if first == -SIGKILL {
                    deaths += 1
                    // The second run dies at the same place of its own, and the third ends.
                    _ = try await Self.run(server, folder, step: step, "resume")
                    #expect(try await Self.run(server, folder, step: -1, "resume") == 0, "step \(step)")
                } else {
                    #expect(first == 0)
                }
                #expect(try Self.store(folder).isFinished, "step \(step)")
                #expect(try await server.orders("alice") == step + 1, "step \(step)")
                let desk = Paydesk(
                    baseURL: server.url, token: { "" },
                    storage: ClientStorage(folder: folder.appendingPathComponent("app")))
                let files = DurableFolder(url: desk.folder.appendingPathComponent("purchases"))
                #expect(try files.names() == [], "step \(step)")
                if first == 0 { break }
                step += 1
            }
            // Two writes of four steps, sending and its answer, finishing and its end, and the removal.
            #expect(deaths == 13)
        }
    }
}
