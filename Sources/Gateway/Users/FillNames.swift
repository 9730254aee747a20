import Domain
import Foundation
package import FoundationEssentials
import Store

extension Gateway {
    /// Fills the app's own user ids into JSON that names users by internal ids; an erased user's place says so.
    ///
    /// What is stored (answers of idempotency keys, events, the audit) holds internal ids only, so that deleting one mapping
    /// forgets a person everywhere.
    package func fillNames(_ json: Data) async throws(GatewayError) -> Data {
        let found = Self.internalIDs(in: json)
        guard !found.isEmpty else { return json }
        let names = try await read { db in
            try Dictionary(uniqueKeysWithValues: found.map { ($0.rawValue, try db.externalUserID($0)) })
        }
        var text = String(decoding: json, as: UTF8.self)
        for (id, name) in names {
            guard let name = try? JSONEncoder().encode(name ?? "erased") else { throw .internalError }
            text = text.replacing("\"\(id)\"", with: String(decoding: name, as: UTF8.self))
        }
        return Data(text.utf8)
    }

    /// The internal ids that stand as whole strings in a JSON text.
    private static func internalIDs(in json: Data) -> Set<ID<User>> {
        let mark = Data("\"\(User.idPrefix)_".utf8)
        var found: Set<ID<User>> = []
        var start = json.startIndex
        while let hit = json.range(of: mark, in: start..<json.endIndex) {
            start = hit.upperBound
            let end = json.index(hit.lowerBound, offsetBy: 32, limitedBy: json.endIndex) ?? json.endIndex
            let text = String(decoding: json[json.index(after: hit.lowerBound)..<end].prefix(30), as: UTF8.self)
            if let id = ID<User>(text) { found.insert(id) }
        }
        return found
    }
}
