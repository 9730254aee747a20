import AppStoreBox
import Domain
import FoundationEssentials
import Gateway
import HTTPTypes

/// Routes of the box's root and In-App Purchase key, with which Apple's own libraries verify and call it.
struct AppStoreBoxKeyRoutes {
    let box: ServedBox

    var routes: [Route] {
        [
            route("readBoxRoot", "/dev/appstore/root.cer", "application/pkix-cert") { [box] in
                Data(box.authority.store.root)
            },
            route("readBoxKey", "/dev/appstore/key.p8", "application/x-pem-file") { [box] in
                Data(try box.authority.keyFile().utf8)
            },
            route("describeBoxKey", "/dev/appstore/key.json", "application/json; charset=utf-8") { [box] in
                try Answer.encode(
                    Description(
                        key_id: box.authority.keyID, issuer_id: box.authority.issuerID, bundle_id: box.bundleID))
            },
        ]
    }

    private struct Description: Encodable {
        let key_id: String
        let issuer_id: String
        let bundle_id: String
    }

    private func route(
        _ id: String, _ path: String, _ type: String, _ body: @escaping @Sendable () throws -> Data
    ) -> Route {
        Route(
            id, .get, path, .anyone, nil, "A file of the App Store in a box", answers: .other(type, "The file."),
            isLocal: true, errors: .bare
        ) { (_) async throws(GatewayError) in
            let bytes: Data
            do { bytes = try body() } catch { throw .internalError }
            return .raw(
                status: .ok, contentType: type, body: bytes,
                headers: [HTTPField(name: .cacheControl, value: "no-store")])
        }
    }
}
