import Domain
import Gateway
import HTTPTypes

/// The route of the keys that verify signed snapshots (RFC 7517).
struct SnapshotKeyRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "readSnapshotKeys", .get, "/.well-known/jwks.json", .anyone, .live,
                "The keys that verify signed snapshots",
                note: "No login. An old key stays until what it signed has ended.", answers: .json(.keySet),
                handle: read)
        ]
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        struct KeySet: Encodable {
            let keys: [PublishedSnapshotKey]
        }
        let set = KeySet(keys: try await gateway.signedSnapshots.publishedKeys())
        return .raw(
            status: .ok, contentType: "application/json; charset=utf-8", body: try Answer.encode(set),
            headers: [
                HTTPField(name: .cacheControl, value: "max-age=300"),
                HTTPField(name: .accessControlAllowOrigin, value: "*"),
            ])
    }
}

extension Shape {
    fileprivate static let keySet = named(
        "SnapshotKeys",
        .object([
            "keys": .list(
                .object([
                    "kty": .words("EC"), "crv": .words("P-256"), "x": .string, "y": .string,
                    "kid": .string.noted("The key's thumbprint (RFC 7638)."), "alg": .words("ES256"),
                    "use": .words("sig"),
                ]))
        ]))
}
