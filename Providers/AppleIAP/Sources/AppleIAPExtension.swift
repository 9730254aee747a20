public import Domain
public import ProviderKit

extension AppleIAPProvider: RenewalExtending {
    public func extend(_ extension: RenewalExtension) async throws(ProviderError) -> Timestamp? {
        let wanted = `extension`
        let (api, place) = try serverAPI(of: wanted.bundleID, in: wanted.environment)
        guard let reason = AppStoreExtension.Reason(rawValue: Int(wanted.reason.rawValue)) else {
            throw .rejected(reason: "the App Store has no such reason")
        }
        let answer: AppStoreExtended
        do throws(AppStoreServerError) {
            answer = try await api.extend(
                original: wanted.originalTransactionID,
                by: AppStoreExtension(days: Int(wanted.days), reason: reason, request: wanted.request), in: place
            ).value
        } catch {
            throw ProviderError(error)
        }
        guard answer.success else { throw .rejected(reason: "the App Store did not extend the subscription") }
        return answer.effectiveDate.map { Timestamp($0 / 1_000) }
    }
}
