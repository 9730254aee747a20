import AppleTrust
import Domain
public import ProviderKit

extension AppleIAPProvider: ConsumptionAnswering {
    /// Sends consumption information to Apple; samples are given to nobody.
    public func answer(_ report: ConsumptionReport) async throws(ProviderError) {
        let (api, place) = try serverAPI(of: report.bundleID, in: report.environment)
        let consumption = AppStoreConsumption(
            customerConsented: true, deliveryStatus: report.isDelivered ? .delivered : .other,
            sampleContentProvided: false, consumptionPercentage: report.percentage,
            refundPreference: report.preference.map(AppStoreConsumption.Preference.init))
        do throws(AppStoreServerError) {
            try await api.sendConsumption(
                consumption, transaction: report.transactionID, isAutoRenewable: report.isAutoRenewable, in: place)
        } catch {
            throw ProviderError(error)
        }
    }

    /// The API of an app, where it is asked about one environment alone.
    ///
    /// - Throws: `unsupported` without a key, and for Xcode, which nobody can be asked about.
    func serverAPI(
        of bundleID: String, in environment: Domain.Environment
    ) throws(ProviderError) -> (AppStoreServerAPI, AppStoreSearch) {
        guard !serverAPIs.isEmpty, environment != .xcode else { throw .unsupported }
        guard let api = serverAPIs.first(where: { $0.bundleID == bundleID }) else {
            throw .rejected(reason: "the account has no app \(bundleID) any more")
        }
        return (api, .only(environment == .production ? .production : .sandbox))
    }
}

extension AppStoreConsumption.Preference {
    fileprivate init(_ preference: ConsumptionReport.Preference) {
        switch preference {
        case .decline: self = .decline
        case .grantFull: self = .grantFull
        }
    }
}

extension ProviderError {
    /// Maps an error of Apple's server API; a wrong key or address is retryable, because an operator can correct it.
    init(_ error: AppStoreServerError) {
        switch error {
        case .retryable, .unknownTransactionYet, .unauthorized, .unexpectedReply: self = .unavailable
        case .outcomeUnknown: self = .outcomeUnknown
        case .notFound, .pagingExpired, .pagingLoop, .tooManyPages, .permanent, .invalidRequest,
            .environmentNotConfigured:
            self = .rejected(reason: "\(error)")
        }
    }
}
