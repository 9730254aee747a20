/// The errors of Apple's server API that the box answers: the code is the HTTP status times 10,000 and a number.
///
/// Source: Apple, App Store Server API, "Error codes".
enum AppleError: Int, Error {
    case generalBadRequest = 4_000_000
    case invalidRequestRevision = 4_000_005
    case invalidTransactionID = 4_000_006
    case invalidOriginalTransactionID = 4_000_008
    case invalidExtendByDays = 4_000_009
    case invalidExtendReasonCode = 4_000_010
    case invalidRequestIdentifier = 4_000_011
    case startDateTooFarInPast = 4_000_012
    case startDateAfterEndDate = 4_000_013
    case invalidPaginationToken = 4_000_014
    case invalidStartDate = 4_000_015
    case invalidEndDate = 4_000_016
    case invalidNotificationType = 4_000_018
    case multipleFiltersSupplied = 4_000_019
    case invalidTestNotificationToken = 4_000_020
    case invalidSort = 4_000_021
    case invalidProductType = 4_000_022
    case invalidProductID = 4_000_023
    case invalidSubscriptionGroup = 4_000_024
    case invalidExcludeRevoked = 4_000_025
    case invalidOwnershipType = 4_000_026
    case invalidRevoked = 4_000_030
    case invalidStatus = 4_000_031
    case invalidConsumptionStatus = 4_000_034
    case invalidCustomerConsented = 4_000_035
    case invalidDeliveryStatus = 4_000_036
    case invalidSampleContentProvided = 4_000_041
    case familyTransactionNotSupported = 4_000_185
    case notOriginalTransactionID = 4_000_187
    case extensionIneligible = 4_030_004
    case extensionLimit = 4_030_005
    case familyExtensionIneligible = 4_030_007
    case originalTransactionIDNotFound = 4_040_005
    case testNotificationNotFound = 4_040_008
    case transactionIDNotFound = 4_040_010
    case rateLimitExceeded = 4_290_000
    case generalInternal = 5_000_000

    var message: String {
        switch self {
        case .generalBadRequest: "Bad request."
        case .invalidRequestRevision: "Invalid request revision."
        case .invalidTransactionID: "Invalid transaction id."
        case .invalidOriginalTransactionID: "Invalid original transaction id."
        case .invalidExtendByDays: "Invalid extend by days value."
        case .invalidExtendReasonCode: "Invalid extend reason code."
        case .invalidRequestIdentifier: "Invalid request identifier."
        case .startDateTooFarInPast: "Start date is too far in the past."
        case .startDateAfterEndDate: "Start date is after end date."
        case .invalidPaginationToken: "Invalid pagination token."
        case .invalidStartDate: "Invalid start date."
        case .invalidEndDate: "Invalid end date."
        case .invalidNotificationType: "Invalid notification type or subtype."
        case .multipleFiltersSupplied: "Supply either a transaction id or a notification type, not both."
        case .invalidTestNotificationToken: "Invalid test notification token."
        case .invalidSort: "Invalid sort."
        case .invalidProductType: "Invalid product type."
        case .invalidProductID: "Invalid product id."
        case .invalidSubscriptionGroup: "Invalid subscription group identifier."
        case .invalidExcludeRevoked: "Invalid exclude revoked value."
        case .invalidOwnershipType: "Invalid in-app ownership type."
        case .invalidRevoked: "Invalid revoked value."
        case .invalidStatus: "Invalid status."
        case .invalidConsumptionStatus: "Invalid consumption percentage."
        case .invalidCustomerConsented: "Invalid customer consented value; it has to be true."
        case .invalidDeliveryStatus: "Invalid delivery status."
        case .invalidSampleContentProvided: "Invalid sample content provided value."
        case .familyTransactionNotSupported: "A family shared transaction is not supported."
        case .notOriginalTransactionID: "The transaction id is not an original transaction id."
        case .extensionIneligible: "The subscription is ineligible for an extension."
        case .extensionLimit: "The subscription has reached the maximum number of extensions."
        case .familyExtensionIneligible: "A family shared subscription is ineligible for an extension."
        case .originalTransactionIDNotFound: "Original transaction id not found."
        case .testNotificationNotFound: "Test notification not found or expired."
        case .transactionIDNotFound: "Transaction id not found."
        case .rateLimitExceeded: "Rate limit exceeded."
        case .generalInternal: "An unknown error occurred."
        }
    }

    var status: Int { rawValue / 10_000 }

    private struct Body: Encodable {
        let errorCode: Int
        let errorMessage: String
    }

    func answer(headers: [String: String] = [:]) -> ServerAPIAnswer {
        .json(Body(errorCode: rawValue, errorMessage: message), status: status, headers: headers)
    }

    /// The body of `generalInternal`.
    static let internalBody = Array(#"{"errorCode":5000000,"errorMessage":"An unknown error occurred."}"#.utf8)
}
