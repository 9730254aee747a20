import AppleTrust
public import ProviderKit

extension AppleIAPProvider: SelfExamining, OnlineDiagnosing {
    /// Reports the apps whose notifications from Production are refused.
    public func examine() -> [Diagnosis] {
        trust.appsWithoutNumber.map { bundle in
            Diagnosis(
                .notice, bundle,
                "app_apple_id is not set, without which no notification from Production is taken: it is the Apple ID "
                    + "under App Information in App Store Connect.")
        }
    }

    /// Tests the key for each app in each environment, and requests a test notification where the key is accepted.
    public func diagnose() async -> [Diagnosis] {
        guard !serverAPIs.isEmpty else {
            return [
                Diagnosis(
                    .notice, "server API",
                    "no key is set (api.key_id, api.issuer_id, api.private_key), so Apple is never asked: missed "
                        + "notifications, consumption requests and extensions stay undone.")
            ]
        }
        var found: [Diagnosis] = []
        for api in serverAPIs {
            let findings = await api.diagnose().findings
            found += findings.map { Diagnosis($0.level, api.bundleID, $0.explanation) }
            for case .works(let environment) in findings {
                found.append(await Self.testNotification(of: api, in: environment))
            }
        }
        return found
    }

    private static func testNotification(
        of api: AppStoreServerAPI, in environment: AppleEnvironment
    ) async -> Diagnosis {
        let subject = "\(api.bundleID) notifications of \(environment.rawValue)"
        do throws(AppStoreServerError) {
            let outcome = try await api.sendTestNotification(in: environment)
            return Diagnosis(outcome.level, subject, outcome.explanation)
        } catch {
            let level: Diagnosis.Level = if case .retryable = error { .notice } else { .fault }
            return Diagnosis(level, subject, "No test notification: \(error).")
        }
    }
}

extension AppStoreFinding {
    fileprivate var level: Diagnosis.Level {
        switch self {
        case .works: .good
        default: isFault ? .fault : .notice
        }
    }
}

extension AppStoreTestOutcome {
    fileprivate var level: Diagnosis.Level {
        switch self {
        case .delivered: .good
        case .pending: .notice
        case .failed: .fault
        }
    }
}
