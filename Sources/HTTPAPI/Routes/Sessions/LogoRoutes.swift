import Gateway
import HTTPTypes

/// The route of the merchant's logo, whose path changes with its content.
struct LogoRoutes {
    let logo: PageSettings.Logo?

    var routes: [Route] {
        guard let logo else { return [] }
        return [
            Route(
                "readLogo", .get, logo.path, .anyone, nil, "The merchant's logo", answers: .other(logo.mediaType, "")
            ) { (_) async throws(GatewayError) in
                .raw(
                    status: .ok, contentType: logo.mediaType, body: logo.content,
                    headers: [
                        // An SVG may have scripts and links; none of them runs.
                        HTTPField(
                            name: .contentSecurityPolicy,
                            value: "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
                        HTTPField(name: .cacheControl, value: "public, max-age=31536000, immutable"),
                        HTTPField(name: .xContentTypeOptions, value: "nosniff"),
                    ])
            }
        ]
    }
}
