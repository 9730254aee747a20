import Domain
import Foundation
import HTTPAPI

/// Reads `auth` of `paydesk.yaml`: the verification of the tokens of the app's users.
enum AuthSection {
    private static let keys = [
        "hs256_secret", "hs256_secrets", "jwks_file", "jwks_url", "issuer", "audience", "user_claim",
        "max_lifetime_hours",
    ]
    private static let sources = ["hs256_secret", "hs256_secrets", "jwks_file", "jwks_url"]
    private static let shortestSecret = 32

    /// An empty secret among the keys stands for one that is still to be made, which only development allows.
    ///
    /// - Parameter http: this server's own addresses, whose published keys verify no login.
    static func read(_ root: MappingReader, _ http: Configuration.HTTP) -> Configuration.Auth {
        let auth = root.section("auth", keys: keys)
        let issuer = auth.text("issuer")
        let audience = auth.text("audience")
        let keys = self.keys(auth, isBound: !issuer.isEmpty && !audience.isEmpty)
        if case .jwksURL(let address) = keys, http.publishes(address) {
            auth.fault(
                "jwks_url", "is this server's own address, whose keys sign snapshots and verify no login",
                "write the address of your login's key set")
        }
        let claim = auth["user_claim"] == nil ? "sub" : auth.requiredText("user_claim", "write the claim's name, sub")
        return Configuration.Auth(
            keys: keys, issuer: issuer.isEmpty ? nil : issuer, audience: audience.isEmpty ? nil : audience,
            userClaim: claim ?? "sub",
            maxLifetimeHours: auth.integer("max_lifetime_hours", in: 1...87_600, default: 720))
    }

    private static func keys(_ auth: MappingReader, isBound: Bool) -> Configuration.Auth.Keys {
        let given = sources.filter { auth.isGiven($0) }
        if given.count > 1 {
            auth.fault(
                given[1], "is given together with \(given[0]), but tokens are verified in one way only",
                "empty all of \(sources.joined(separator: ", ")) but one")
        }
        let none = Configuration.Auth.Keys.hs256([Secret(wrappedValue: "")])
        switch given.first {
        case "jwks_file", "jwks_url":
            if !auth.reading.isDevelopment, !isBound {
                for key in ["issuer", "audience"] where auth.text(key).isEmpty {
                    auth.fault(
                        key, "is missing, which production requires with a JWKS",
                        "write the \(key == "issuer" ? "iss" : "aud") of your tokens")
                }
            }
            if given[0] == "jwks_file" { return keyFile(auth).map { .jwksFile($0) } ?? none }
            return auth["jwks_url"]?.webAddress(insecure: .loopback).map { .jwksURL($0) } ?? none
        case "hs256_secrets": return .hs256(secrets(auth).map { Secret(wrappedValue: $0) })
        default: return .hs256([Secret(wrappedValue: secret(auth))])
        }
    }

    /// The path of a key set with a key that can verify tokens.
    private static func keyFile(_ auth: MappingReader) -> String? {
        guard let value = auth["jwks_file"], let path = value.path(),
            let set = auth.reading.text(ofFile: path, at: value.place)
        else { return nil }
        guard UserKeys.isUsable(set: set) else {
            value.fault(
                "names a file without a usable key, \(path)",
                "put your issuer's JWK set there, {\"keys\": […]}, with a public key of kty RSA (2,048 bits or more), EC or "
                    + "OKP that signs; each has a kid where there are several")
            return nil
        }
        return path
    }

    /// Reads the list of secrets: every one verifies, and the first signs the tokens of `paydesk token`.
    private static func secrets(_ auth: MappingReader) -> [String] {
        auth.elements("hs256_secrets").compactMap { element in
            guard let secret = element.secret() else { return nil }
            guard secret.utf8.count >= shortestSecret else {
                element.fault("is shorter than 32 bytes", "make a longer one: openssl rand -base64 48")
                return nil
            }
            return secret
        }
    }

    private static func secret(_ auth: MappingReader) -> String {
        let before = auth.reading.faults.count
        let secret = auth["hs256_secret"]?.secret() ?? ""
        guard auth.reading.faults.count == before else { return "" }
        if secret.isEmpty {
            if !auth.reading.isDevelopment {
                auth.fault(
                    "hs256_secret", "is empty, and no JWKS is given",
                    "set PAYDESK_USER_SECRET to your tokens' secret (openssl rand -base64 48), or give a JWKS"
                )
            }
        } else if secret.utf8.count < shortestSecret {
            auth.fault("hs256_secret", "is shorter than 32 bytes", "make a longer one: openssl rand -base64 48")
        }
        return secret
    }
}

extension Configuration.HTTP {
    /// Returns whether this server answers an address with the keys of its own snapshots.
    fileprivate func publishes(_ address: String) -> Bool {
        guard let asked = URLComponents(string: address), asked.path == Self.keySetPath else { return false }
        let own = URLComponents(string: publicURL)
        if asked.host?.lowercased() == own?.host?.lowercased(), asked.webPort == own?.webPort { return true }
        let loopback = ["localhost", "127.0.0.1", "[::1]", "::1"]
        return loopback.contains(asked.host?.lowercased() ?? "") && asked.webPort == port
    }

    private static let keySetPath = "/.well-known/jwks.json"
}

extension URLComponents {
    fileprivate var webPort: Int { port ?? (scheme?.lowercased() == "http" ? 80 : 443) }
}
