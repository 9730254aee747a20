package import AppleTrust

/// The environments in which a transaction is searched.
package enum AppStoreSearch: Sendable, Equatable {
    /// In this environment alone: a verified JWS names it.
    case only(AppleEnvironment)
    /// In this environment, then in the other: a hint.
    case first(AppleEnvironment)

    /// In Production, then in Sandbox, as Apple recommends.
    package static let anywhere = AppStoreSearch.first(.production)
}

/// An answer and the environment that gave it.
package struct AppStoreAnswer<Value: Sendable>: Sendable {
    package let environment: AppleEnvironment
    package let value: Value
}

extension AppStoreAnswer: Equatable where Value: Equatable {}

extension AppStoreServerAPI {
    /// Asks the environments of a place in turn, until one knows the transaction.
    ///
    /// The next one is asked only after 4040010 or 4040005, and after a 401 of Production where the account says that
    /// the app has no release yet: otherwise a wrong key would pass for a transaction that does not exist.
    func find<Value: Sendable>(
        _ place: AppStoreSearch, _ ask: (AppleEnvironment) async throws(AppStoreServerError) -> Value
    ) async throws(AppStoreServerError) -> AppStoreAnswer<Value> {
        var refusal: AppStoreServerError?
        for environment in try order(place) {
            do throws(AppStoreServerError) {
                return AppStoreAnswer(environment: environment, value: try await ask(environment))
            } catch {
                guard leadsOn(error) else { throw error }
                // In an app without a release Production knows no transaction, whatever it answers.
                if refusal != .unknownTransactionYet { refusal = error }
            }
        }
        throw refusal ?? .environmentNotConfigured(.production)
    }

    private func order(_ place: AppStoreSearch) throws(AppStoreServerError) -> [AppleEnvironment] {
        switch place {
        case .only(let environment):
            guard addresses[environment] != nil else { throw .environmentNotConfigured(environment) }
            return [environment]
        case .first(let environment):
            return environments.filter { $0 == environment } + environments.filter { $0 != environment }
        }
    }

    private func leadsOn(_ error: AppStoreServerError) -> Bool {
        error == .unknownTransactionYet || (isPreRelease && error == .unauthorized(.production))
    }
}
