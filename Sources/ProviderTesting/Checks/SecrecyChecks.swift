import FoundationEssentials
import ProviderKit

extension Check {
    /// The last checks: they read what the other checks recorded.
    static let secrecy = [
        Check("no secret is shown by any description or error") { stage in
            let secrets = stage.rehearsal.secrets.filter { !$0.isEmpty }
            if secrets.isEmpty {
                guard !hasSecret(stage.manifest.settings) else {
                    throw CheckStop.failed("the settings have a secret, and the rehearsal names none")
                }
                throw CheckStop.notApplicable("its settings have no secret")
            }
            // Once, and not at every call of the other checks: a new provider shows the same in each of them.
            for behaviour in UpstreamBehaviour.allCases { stage.transcript.add(try stage.provider(behaviour)) }
            let texts = stage.transcript.all
            try stage.expect(!texts.isEmpty, "nothing was shown that could be examined")
            for secret in secrets.flatMap(spellings) {
                try stage.expect(!texts.contains { $0.contains(secret) }, "a secret is shown")
            }
        }
    ]

    private static func hasSecret(_ schema: SettingsSchema) -> Bool { schema.fields.contains { hasSecret($0.type) } }

    private static func hasSecret(_ type: SettingsSchema.FieldType) -> Bool {
        switch type {
        case .secret: true
        case .list(let element): hasSecret(element)
        case .object(let schema): hasSecret(schema)
        case .map(let element): hasSecret(element)
        case .text, .integer, .boolean, .choice, .url, .path: false
        }
    }

    private static func spellings(_ secret: String) -> [String] {
        [secret, Data(secret.utf8).base64EncodedString(), "\(Array(secret.utf8))"]
    }
}
