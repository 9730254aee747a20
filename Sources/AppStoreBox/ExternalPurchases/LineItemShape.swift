import Domain
import Foundation

/// The members that a line item must and may have, their types, and its own sums.
enum LineItemShape {
    private enum Kind { case text, number, flag }

    private static let common: [String: Kind] = [
        "lineItemId": .text, "creationDate": .number, "eventType": .text, "pricingCurrency": .text,
        "reportingCurrency": .text, "taxCountry": .text, "amountTaxInclusive": .number, "amountTaxExclusive": .number,
        "taxAmount": .number, "netAmountTaxExclusive": .number,
    ]
    private static let buy = common.merging(
        ["productType": .text, "productIdentifier": .text, "quantity": .number]
    ) { first, _ in first }
    private static let subscription = buy.merging(
        [
            "subscriptionEvent": .text, "subscriptionStartDate": .number, "subscriptionEndDate": .number,
            "subscriptionDaysOfPaidService": .number,
        ]
    ) { first, _ in first }
    private static let refund = common.merging(["referenceLineItemId": .text]) { first, _ in first }
    private static let flags: [String: Kind] = ["restatement": .flag, "erroneouslySubmitted": .flag]

    /// The longest id of a line item.
    private static let longestID = 128

    static func read(_ json: JSONValue) -> ExternalLineItem? {
        guard let data = try? JSONEncoder().encode(json) else { return nil }
        return try? JSONDecoder().decode(ExternalLineItem.self, from: data)
    }

    /// Lists the faults of one line item by itself.
    static func faults(of json: JSONValue, now: Int64) -> [ExternalReportCheck.Fault] {
        guard case .object(let members) = json else { return [fault("No object.", "lineItems", nil)] }
        let id: String? = if case .string(let text)? = members["lineItemId"] { text } else { nil }
        let isRefund = members["eventType"] == .string("REFUND")
        let isSubscription = members["productType"] == .string("SUBSCRIPTION")
        let needed = isRefund ? refund : isSubscription ? subscription : buy
        var allowed = needed.merging(flags) { first, _ in first }
        if isSubscription { allowed["referenceLineItemId"] = .text }
        var found = needed.keys.filter { members[$0] == nil }.sorted().map {
            fault("A required field is missing.", $0, id)
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let kind = allowed[name] else {
                found.append(fault("The field is not allowed.", name, id))
                continue
            }
            if !fits(value, kind) { found.append(fault("The field has the wrong type.", name, id)) }
        }
        guard found.isEmpty else { return found }
        guard let item = read(json) else { return [fault("Unknown value.", "eventType", id)] }
        return faults(of: item, now: now)
    }

    private static func fits(_ value: JSONValue, _ kind: Kind) -> Bool {
        switch (value, kind) {
        case (.string, .text), (.integer, .number), (.bool, .flag): true
        default: false
        }
    }

    private static func faults(of item: ExternalLineItem, now: Int64) -> [ExternalReportCheck.Fault] {
        let amounts = [
            ("amountTaxInclusive", item.amountTaxInclusive), ("amountTaxExclusive", item.amountTaxExclusive),
            ("taxAmount", item.taxAmount), ("netAmountTaxExclusive", item.netAmountTaxExclusive),
        ]
        var rules: [(Bool, String, String)] = [
            (
                (1...longestID).contains(item.lineItemId.utf8.count)
                    && (item.referenceLineItemId?.utf8.count ?? 0) <= longestID, "lineItemId",
                "The value exceeds the maximum length of 128."
            ),
            (item.lineItemId != item.referenceLineItemId, "referenceLineItemId", "A line item references itself."),
            (
                ExternalRegions.currencies.contains(item.reportingCurrency)
                    && item.pricingCurrency == item.reportingCurrency, "reportingCurrency",
                "The reporting currency does not match."
            ),
            (
                ExternalRegions.isStorefront(item.taxCountry), "taxCountry",
                "A country code of three letters is required."
            ),
            (
                item.amountTaxInclusive == item.amountTaxExclusive + item.taxAmount, "amountTaxInclusive",
                "The inclusive amount is not the exclusive amount and the tax."
            ),
            (
                item.creationDate > now - ExternalReportRules.reportableSeconds * 1_000, "creationDate",
                "The date is too far in the past."
            ),
            (item.creationDate <= now + 86_400_000, "creationDate", "The date is in the future."),
            (
                item.erroneouslySubmitted != true || item.restatement == true, "erroneouslySubmitted",
                "It must be a restatement."
            ),
            (item.quantity ?? 1 > 0, "quantity", "A positive value is required."),
        ]
        rules += amounts.map { ($0.1 >= 0, $0.0, "A negative value is not allowed.") }
        if let event = item.subscriptionEvent {
            let (start, end) = (item.subscriptionStartDate ?? 0, item.subscriptionEndDate ?? 0)
            rules += [
                (start < end, "subscriptionStartDate", "The start lies after the end."),
                (
                    event != .start || item.subscriptionDaysOfPaidService == 0, "subscriptionDaysOfPaidService",
                    "The value must be zero for a line item with subscription event SUBSCRIPTION_START."
                ),
                (
                    (event == .start) == (item.referenceLineItemId == nil), "referenceLineItemId",
                    "Everything after the start references the start."
                ),
            ]
        }
        return rules.filter { !$0.0 }.map { fault($0.2, $0.1, item.lineItemId) }
    }

    private static func fault(_ message: String, _ field: String, _ id: String?) -> ExternalReportCheck.Fault {
        ExternalReportCheck.Fault(errorCode: 1, errorMessage: message, fieldName: field, lineItemId: id)
    }
}
