import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Names of users in answers")
struct UserNamesTests {
    /// `ID` is a user's internal id; in the second text it is the app's own id where a view names a user.
    static let texts = [
        (#"{"user_id":"ID"}"#, #"{"user_id":"alice"}"#),
        (
            #"{"items":[{"user_id":"ID"},{"subject":"ID"}],"next_cursor":null}"#,
            #"{"items":[{"user_id":"alice"},{"subject":"alice"}],"next_cursor":null}"#
        ),
        (
            #"{"data":{"from_user_id":"ID","user_id":"ID"},"subject":"ID"}"#,
            #"{"data":{"from_user_id":"alice","user_id":"alice"},"subject":"alice"}"#
        ),
        (#"{"items":[{"data":{"user_id":"ID"}}]}"#, #"{"items":[{"data":{"user_id":"alice"}}]}"#),
        (
            #"{"metadata":{"user_id":"ID","ref":"ID"},"user_id":"ID"}"#,
            #"{"metadata":{"user_id":"ID","ref":"ID"},"user_id":"alice"}"#
        ),
        (#"{"data":{"metadata":{"subject":"ID"}}}"#, #"{"data":{"metadata":{"subject":"ID"}}}"#),
        (
            #"{"items":[{"attributes":{"before":"ID"},"name":"ID"}]}"#,
            #"{"items":[{"attributes":{"before":"ID"},"name":"ID"}]}"#
        ),
        (#"{"note":"\"user_id\":\"ID\"","user_id":"by ID"}"#, #"{"note":"\"user_id\":\"ID\"","user_id":"by ID"}"#),
    ]

    @Test(arguments: texts)
    func `only members that views have for users are names`(_ stored: String, _ shown: String) async throws {
        try await withDesk(on: .sqlite) { desk in
            _ = try await desk.checkout()
            let id = try #require(try await desk.store.read { db in try db.users.findID(GatewayFixture.user("alice")) })
                .rawValue
            let filled = try await desk.gateway.userNames.fill(Data(stored.replacing("ID", with: id).utf8))
            #expect(String(decoding: filled, as: UTF8.self) == shown.replacing("ID", with: id))
        }
    }
}
