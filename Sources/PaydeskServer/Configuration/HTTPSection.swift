import Domain

/// Reads `http` of `paydesk.yaml`.
enum HTTPSection {
    private static let keys = [
        "host", "port", "public_url", "expose_development", "tls", "trusted_proxies", "cors_origins", "return_urls",
    ]

    static func read(_ root: MappingReader, _ overrides: ConfigurationOverrides) -> Configuration.HTTP {
        let http = root.section("http", keys: keys)
        let fileHost = http["host"] == nil ? "127.0.0.1" : http.requiredText("host", "write 127.0.0.1 or 0.0.0.0")
        let filePort = http.integer("port", in: 1...65_535, default: 8_080)
        let host = overrides.host ?? fileHost ?? "127.0.0.1"
        let port = overrides.port ?? Int(filePort)
        let exposes = http.boolean("expose_development", default: false)
        if http.reading.isDevelopment, !exposes, !WebAddress.isLoopback(host: host) {
            let word = overrides.host == nil ? "is" : "would be by --host"
            http.fault(
                "host", "\(word) reachable from other machines, which development mode does not allow by itself",
                "listen on 127.0.0.1, set http.expose_development: true, or use mode: production")
        }
        let tls = tls(http)
        let scheme = tls == nil ? "http" : "https"
        let own = "\(scheme)://127.0.0.1:\(filePort)"
        var publicURL = publicURL(http, default: own)
        if http.reading.isDevelopment, overrides.port != nil, publicURL == own {
            publicURL = "\(scheme)://127.0.0.1:\(port)"
        }
        return Configuration.HTTP(
            host: host, port: port, publicURL: publicURL, exposeDevelopment: exposes, tls: tls,
            trustedProxies: trustedProxies(http), corsOrigins: corsOrigins(http),
            returnURLs: returnURLs(http, publicURL: publicURL))
    }

    private static func publicURL(_ http: MappingReader, default own: String) -> String {
        let text = http.text("public_url")
        guard http.reading.isDevelopment || !text.isEmpty else {
            http.fault("public_url", "is missing", "write the https address that users and providers reach")
            return own
        }
        guard !text.isEmpty else { return own }
        guard let address = WebAddress(text), address.isWeb, !address.rest.contains(where: { $0 == "?" || $0 == "#" })
        else {
            http.fault("public_url", "is not an absolute address", "write one such as https://pay.example.com")
            return own
        }
        if !http.reading.isDevelopment, address.scheme != "https" {
            http.fault("public_url", "is not https, which production requires", "write the https:// address")
        }
        var path = address.rest
        while path.last == "/" { path.removeLast() }
        return address.origin + path
    }

    private static func tls(_ http: MappingReader) -> Configuration.TLS? {
        let tls = http.section("tls", keys: ["certificate", "private_key"])
        guard tls.isGiven("certificate") || tls.isGiven("private_key") else { return nil }
        guard tls.isGiven("certificate") && tls.isGiven("private_key") else {
            let missing = tls.isGiven("certificate") ? "private_key" : "certificate"
            tls.fault(
                missing, "is empty although its counterpart is given", "give both certificate and private_key, or none")
            return nil
        }
        let path = tls["certificate"]?.path()
        guard let key = tls["private_key"]?.secret() else { return nil }
        if !key.contains("-----BEGIN ") || !key.contains("PRIVATE KEY-----") {
            tls.fault("private_key", "is not a private key in PEM", "write file:path, or the PEM text itself")
        }
        return path.map { Configuration.TLS(certificatePath: $0, privateKeyPEM: key) }
    }

    private static func trustedProxies(_ http: MappingReader) -> [CIDR] {
        http.elements("trusted_proxies").compactMap { element in
            guard let text = element.text() else { return nil }
            guard let range = CIDR(text) else {
                element.fault("is not a range of IP addresses", "write one such as 10.0.0.0/8 or fd00::/8")
                return nil
            }
            return range
        }
    }

    private static func corsOrigins(_ http: MappingReader) -> [String] {
        http.elements("cors_origins").compactMap { element in
            guard let text = element.text() else { return nil }
            guard let address = WebAddress(text), !address.host.isEmpty, address.rest.isEmpty else {
                element.fault(
                    "is not an origin", "write scheme and host without a path, https://app.example; each by itself")
                return nil
            }
            return address.origin
        }
    }

    private static func returnURLs(_ http: MappingReader, publicURL: String) -> ReturnURLRules {
        let elements = http.elements("return_urls")
        let rules = elements.compactMap { element -> ReturnURLRules.Rule? in
            guard let text = element.text() else { return nil }
            guard let rule = ReturnURLRules.Rule(text) else {
                element.fault(
                    "is neither an origin nor an app's scheme",
                    "write https://app.example or \"myapp:\"; javascript:, data: and their like never"
                )
                return nil
            }
            return rule
        }
        guard elements.isEmpty else { return ReturnURLRules(rules) }
        guard !http.reading.isDevelopment else { return .anything }
        let own = WebAddress(publicURL).flatMap { ReturnURLRules.Rule($0.origin) }
        return ReturnURLRules(own.map { [$0] } ?? [])
    }
}
