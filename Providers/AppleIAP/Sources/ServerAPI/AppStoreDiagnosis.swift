package import AppleTrust

/// The API's answer to a test call in one environment.
package enum AppStoreProbe: Sendable, Equatable {
    /// The token was accepted.
    case accepted
    /// Status 401.
    case unauthorized
    /// The token was accepted, but the app was not; with Apple's error code.
    case wrongApp(code: Int64)
    case unreachable
    case rateLimited
    /// Apple cannot answer now.
    case troubled(status: Int)
    /// An answer in a form that Apple never sends.
    case notApple(status: Int)
}

/// The result of a test of the key, the issuer, the app and the clock.
package enum AppStoreFinding: Sendable, Equatable {
    case works(AppleEnvironment)
    /// The seconds by which our clock is ahead of Apple's; negative where it is behind.
    case clockWrong(seconds: Int64)
    case notReleased
    case refusedEverywhere
    case sandboxRefusedAlone
    /// Status 401 here, while the other environment does not show the reason.
    case refused(AppleEnvironment)
    case wrongApp(AppleEnvironment, code: Int64)
    case unreachable(AppleEnvironment)
    case rateLimited(AppleEnvironment)
    case troubled(AppleEnvironment, status: Int)
    case notApple(AppleEnvironment, status: Int)
}

/// The outcome of a diagnosis of one app.
package struct AppStoreDiagnosis: Sendable, Equatable {
    package let bundleID: String
    package let findings: [AppStoreFinding]

    /// Returns the causes of the answers of both environments; nil for one that is not configured.
    ///
    /// - Parameter clockSkew: the seconds by which our clock is ahead of Apple's; nil where Apple's answer had no time.
    package static func findings(
        production: AppStoreProbe?, sandbox: AppStoreProbe?, clockSkew: Int64?
    ) -> [AppStoreFinding] {
        var findings: [AppStoreFinding] = []
        if let clockSkew, abs(clockSkew) > 60 { findings.append(.clockWrong(seconds: clockSkew)) }
        switch (production, sandbox) {
        case (.unauthorized, .unauthorized): return findings + [.refusedEverywhere]
        case (.unauthorized, .accepted): return findings + [.notReleased, .works(.sandbox)]
        case (.accepted, .unauthorized): return findings + [.works(.production), .sandboxRefusedAlone]
        default:
            findings += production.map { finding($0, .production) } ?? []
            return findings + (sandbox.map { finding($0, .sandbox) } ?? [])
        }
    }

    private static func finding(_ probe: AppStoreProbe, _ environment: AppleEnvironment) -> [AppStoreFinding] {
        switch probe {
        case .accepted: [.works(environment)]
        case .unauthorized: [.refused(environment)]
        case .wrongApp(let code): [.wrongApp(environment, code: code)]
        case .unreachable: [.unreachable(environment)]
        case .rateLimited: [.rateLimited(environment)]
        case .troubled(let status): [.troubled(environment, status: status)]
        case .notApple(let status): [.notApple(environment, status: status)]
        }
    }
}

extension AppStoreFinding {
    /// True for a fault that the operator has to correct.
    package var isFault: Bool {
        switch self {
        case .works, .rateLimited, .troubled: false
        case .clockWrong, .notReleased, .refusedEverywhere, .sandboxRefusedAlone, .refused, .wrongApp, .unreachable,
            .notApple:
            true
        }
    }

    /// Describes the fault and its correction for a person.
    package var explanation: String {
        switch self {
        case .works(let environment): "\(environment.rawValue) accepts the key."
        case .clockWrong(let seconds):
            "This machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") Apple's, and Apple refuses "
                + "tokens of the future and of the past. Synchronise it (NTP)."
        case .notReleased:
            "Production answers 401 while Sandbox accepts the same key, so key, issuer and clock are right. Apple's "
                + "Production answers 401 to an app that has no release in the App Store yet: set api.pre_release: true "
                + "until then. If the app is released, its bundle_id belongs to another team than the key."
        case .refusedEverywhere:
            "Both environments answer 401. One of these is wrong: api.key_id (it is in the name of the .p8 file), "
                + "api.issuer_id (above the keys in App Store Connect, Users and Access, Integrations, In-App Purchase; "
                + "not the team id), api.private_key (an In-App Purchase key, not one of the App Store Connect API, and "
                + "not revoked), apps.bundle_id, or this machine's clock."
        case .sandboxRefusedAlone:
            "Sandbox answers 401 although Production accepts the key, which is the same for both: check "
                + "api.sandbox_url."
        case .refused(let environment):
            "\(environment.rawValue) answers 401 and the other environment does not tell why. Either key_id, issuer_id, "
                + "private_key, bundle_id or the clock is wrong"
                + (environment == .production ? ", or the app has no release in the App Store yet." : ".")
        case .wrongApp(let environment, let code):
            "\(environment.rawValue) accepts the key but not the app (\(code)): compare bundle_id with App Store Connect."
        case .unreachable(let environment):
            "\(environment.rawValue) cannot be reached: check the network, a firewall or proxy, and the api URLs."
        case .rateLimited(let environment): "\(environment.rawValue) accepts no more calls now (429)."
        case .troubled(let environment, let status): "\(environment.rawValue) cannot answer now (\(status))."
        case .notApple(let environment, let status):
            "What answers for \(environment.rawValue) is not Apple's API (status \(status)): check the api URLs and "
                + "any proxy."
        }
    }
}
