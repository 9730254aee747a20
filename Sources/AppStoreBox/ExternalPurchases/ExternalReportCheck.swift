package import Domain

/// Checks reports of external purchases as Apple documents it, for the App Store in a box.
///
/// Source: Apple, External Purchase Server API 1.2: ExternalPurchaseReport, the three kinds of line items, "Error messages
/// and codes". Apple publishes the errors' names; the numbers are this box's own.
package struct ExternalReportCheck: Sendable {
    /// A fault of a line item, in Apple's shape.
    package struct Fault: Encodable, Sendable, Equatable {
        package let errorCode: Int64
        package let errorMessage: String
        package let fieldName: String
        package let lineItemId: String?
    }

    /// The result of a check.
    package enum Verdict: Sendable, Equatable {
        case accepted
        /// The report has another form than Apple documents.
        case malformed(String)
        case refused([Fault])
    }

    /// The reports that were accepted before, oldest first.
    private let earlier: [ExternalReportBody]
    /// Business milliseconds.
    private let now: Int64

    package init(after earlier: [ExternalReportBody], now: Int64) {
        self.earlier = earlier
        self.now = now
    }

    /// Checks the members of a report and of its line items.
    package func verdict(_ json: JSONValue) -> Verdict {
        guard case .object(let members) = json else { return .malformed("The body is no object.") }
        let names: Set = ["requestIdentifier", "externalPurchaseId", "status", "lineItems"]
        guard Set(members.keys).isSubset(of: names) else { return .malformed("The report has unknown fields.") }
        guard case .string(let identifier)? = members["requestIdentifier"], BoxUUID.isOne(identifier) else {
            return .malformed("requestIdentifier is no UUID.")
        }
        guard !earlier.contains(where: { $0.requestIdentifier == identifier }) else {
            return .malformed("The request is a duplicate.")
        }
        guard case .string(let token)? = members["externalPurchaseId"], token.hasPrefix("SANDBOX") else {
            return .malformed("externalPurchaseId is no token of the sandbox.")
        }
        guard case .string(let word)? = members["status"], let status = ExternalReportStatus(rawValue: word) else {
            return .malformed("status is unknown.")
        }
        guard (status == .lineItem) == (members["lineItems"] != nil) else {
            return .malformed("status and lineItems do not fit.")
        }
        let own = earlier.filter { $0.externalPurchaseId == token }
        if status != .lineItem {
            let isLess = own.contains { $0.status == .lineItem }
            return isLess ? .refused([fault("The token has line items.", "status", nil)]) : .accepted
        }
        guard case .array(let elements)? = members["lineItems"], !elements.isEmpty else {
            return .malformed("lineItems is no list of objects.")
        }
        let shapes = elements.flatMap { LineItemShape.faults(of: $0, now: now) }
        guard shapes.isEmpty else { return .refused(shapes) }
        let items = elements.compactMap(LineItemShape.read)
        guard items.count == elements.count else { return .malformed("lineItems is no list of line items.") }
        let sums = faults(in: items)
        return sums.isEmpty ? .accepted : .refused(sums)
    }

    private func fault(_ message: String, _ field: String, _ item: ExternalLineItem?) -> Fault {
        Fault(errorCode: 1, errorMessage: message, fieldName: field, lineItemId: item?.lineItemId)
    }

    /// Compares line items with those before them.
    private func faults(in items: [ExternalLineItem]) -> [Fault] {
        var known: [String: ExternalLineItem] = [:]
        for item in earlier.flatMap({ $0.lineItems ?? [] }) { known[item.lineItemId] = item }
        var nets: [String: Int64] = [:]
        var found: [Fault] = []
        for item in items {
            let before = known[item.lineItemId]
            if (before != nil) != (item.restatement == true) {
                found.append(fault(before == nil ? "Not found." : "Already submitted.", "lineItemId", item))
            }
            if let before, before.creationDate != item.creationDate {
                found.append(fault("A restatement has the date of its original.", "creationDate", item))
            }
            if let reference = item.referenceLineItemId {
                found += faults(of: item, referencing: known[reference])
            }
            known[item.lineItemId] = item
            let purchase = item.eventType == .refund ? item.referenceLineItemId ?? "" : item.lineItemId
            if let whole = known[purchase] {
                let returned = known.values.filter {
                    $0.eventType == .refund && $0.referenceLineItemId == purchase && $0.erroneouslySubmitted != true
                }.reduce(0) { $0 + $1.amountTaxExclusive }
                if item.netAmountTaxExclusive != whole.amountTaxExclusive - returned {
                    found.append(fault("The net amount is not correct.", "netAmountTaxExclusive", item))
                }
            }
            if let net = nets[purchase], net != item.netAmountTaxExclusive {
                found.append(
                    fault("Two items of one purchase have different net amounts.", "netAmountTaxExclusive", item))
            }
            nets[purchase] = item.netAmountTaxExclusive
        }
        return found
    }

    private func faults(of item: ExternalLineItem, referencing target: ExternalLineItem?) -> [Fault] {
        guard let target, target.eventType == .buy else {
            return [fault("The referenced line item is no purchase.", "referenceLineItemId", item)]
        }
        var found: [Fault] = []
        if item.eventType == .buy, target.subscriptionEvent != .start {
            found.append(fault("The referenced line item is no start.", "referenceLineItemId", item))
        }
        if item.taxCountry != target.taxCountry {
            found.append(fault("The tax country does not match.", "taxCountry", item))
        }
        if item.pricingCurrency != target.pricingCurrency {
            found.append(fault("The currency does not match.", "pricingCurrency", item))
        }
        if item.creationDate < target.creationDate {
            found.append(fault("The referenced line item is newer.", "creationDate", item))
        }
        return found
    }
}

/// The form of a UUID (RFC 9562 section 4).
enum BoxUUID {
    static func isOne(_ text: String) -> Bool {
        let bytes = Array(text.lowercased().utf8)
        return bytes.count == 36
            && bytes.indices.allSatisfy { index in
                [8, 13, 18, 23].contains(index)
                    ? bytes[index] == UInt8(ascii: "-")
                    : bytes[index].isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(bytes[index])
            }
    }
}
