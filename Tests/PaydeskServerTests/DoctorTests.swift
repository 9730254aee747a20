import Foundation
import TestSupport
import Testing

@Suite("The doctor")
struct DoctorTests {
    @Test
    func `it says that the database is not there yet, and that all is well once it is`() async throws {
        let installation = try Installation()
        let before = try await installation.run("doctor")
        #expect(before.status == 3)
        #expect(before.output.contains("FAIL database"))
        #expect(try await installation.run("migrate").status == 0)
        let after = try await installation.run("doctor", "--json")
        #expect(after.status == 0, "\(after.output) \(after.errors)")
        for check in ["configuration", "database", "migrations", "clock", "catalogue", "account box"] {
            #expect(after.output.contains("\"check\":\"\(check)\",\"detail\""), "\(check)")
        }
    }

    @Test
    func `it shows what an admin changed, and that nothing sells a SKU any more`() async throws {
        let installation = try Installation()
        let made = try await installation.run("keys", "create", "--name", "n", "--scopes", "admin", "--json")
        let issued = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: String]
        let key = try #require(issued?["key"])
        try await installation.whileServing { _ in
            let changed = try await installation.call("PATCH", "/v1/admin/accounts/box", key, #"{"enabled":false}"#)
            #expect(changed["overridden"] as? Bool == true)
            let doctor = try await installation.run("doctor")
            #expect(doctor.status == 1)
            #expect(doctor.output.contains("account box: sandbox, disabled, priority 1, changed by an admin"))
            #expect(doctor.output.contains("FAIL catalogue: no enabled account sells"))
            _ = try await installation.call("PATCH", "/v1/admin/accounts/box", key, #"{"reset":true}"#)
            #expect(try await installation.run("doctor").status == 0)
        }
    }

    @Test
    func `it fails for a routing that this release cannot read, and the server warns of it once`() async throws {
        let installation = try Installation()
        #expect(try await installation.run("migrate").status == 0)
        let file = installation.folder.path + "/var/paydesk.db"
        let routing = #"{"priority":"first"}"#
        try await StoredFile.run(
            "INSERT INTO account_overrides (account, routing, updated_at) VALUES ('box', '\(routing)', 0)", in: file)
        let doctor = try await installation.run("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("FAIL account box: sandbox, enabled, priority 1, changed by an admin"))
        #expect(doctor.output.contains("cannot be read by this release"))
        try await installation.whileServing { server in
            #expect(server.errors.components(separatedBy: "cannot be read by this release").count == 2)
        }
        try await StoredFile.run("DELETE FROM account_overrides", in: file)
        #expect(try await installation.run("doctor").status == 0)
    }
}
