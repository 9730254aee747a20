import ArgumentParser
import Domain
import HTTPAPI

/// `paydesk token`.
struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Makes a user's token, in development only.")

    @OptionGroup var common: CommonOptions
    @Option(help: "The user's id.") var user: String
    @Option(help: "Seconds until it ends.") var ttl: Int64 = 3_600

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        guard configuration.isDevelopment else {
            throw CommandError.usage("paydesk: tokens are made by your own login in production mode")
        }
        guard case .hs256(let secrets) = configuration.auth.keys, let secret = secrets.first else {
            throw CommandError.usage("paydesk: tokens are signed by the issuer of your JWKS, not by Paydesk")
        }
        guard ExternalUserID(user) != nil else {
            throw CommandError.usage("paydesk: --user must have 1 to 128 characters, none of them a control character")
        }
        guard ttl > 0, ttl <= configuration.auth.maxLifetimeHours * 3_600 else {
            throw CommandError.usage(
                "paydesk: --ttl must be 1 to \(configuration.auth.maxLifetimeHours * 3_600) (auth.max_lifetime_hours)")
        }
        let rules = try configuration.auth.tokenRules { _ in nil }
        let token = try await DevelopmentToken.make(
            user: user, secret: Array(secret.wrappedValue.utf8), rules: rules, now: SystemDependencies.time.now,
            lifetime: ttl)
        print(token)
    }
}
