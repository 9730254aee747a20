package import Domain

extension LocalizedText {
    /// Makes the text "must be one of" for a closed list of words, which are also in `details.allowed`.
    package static func words(_ words: [String], isList: Bool = false) -> LocalizedText {
        let all = words.joined(separator: ", ")
        let text: LocalizedText = isList ? "must be some of \(all)" : "must be one of \(all)"
        return text.with("allowed", .array(words.map(JSONValue.string)))
    }

    package static func length(_ range: ClosedRange<Int>) -> LocalizedText {
        range.lowerBound == 0
            ? "must have at most \(range.upperBound) characters"
            : "must have \(range.lowerBound) to \(range.upperBound) characters"
    }

    /// Makes the text for a currency that is not the order's.
    static func orderCurrency(_ currency: Currency) -> LocalizedText {
        let text: LocalizedText = "the order's currency is \(currency)"
        return text.with("allowed", .array([.string(currency.code)]))
    }

    fileprivate static func type(_ type: JSONType) -> LocalizedText {
        let text: LocalizedText =
            switch type {
            case .string: "must be a string"
            case .integer: "must be an integer"
            case .number: "must be a number"
            case .boolean: "must be a boolean"
            case .array: "must be an array"
            case .object: "must be an object"
            }
        return text.with("expected", .string(type.rawValue))
    }
}

extension GatewayError {
    /// Makes the refusal of an unknown member or parameter.
    package static func unknownField(_ place: String, nearest: String?) -> GatewayError {
        guard let nearest else {
            let reason: LocalizedText = "is not known here"
            return .invalidRequest(field: place, reason: reason.with("nearest", .null))
        }
        let reason: LocalizedText = "is not known here; the nearest known name is \(nearest)"
        return .invalidRequest(field: place, reason: reason.with("nearest", .string(nearest)))
    }

    package init(_ fault: JSONFault) {
        let reason: LocalizedText =
            switch fault.problem {
            case .syntax: "the body is not JSON; the fault is at byte \(fault.offset)"
            case .depth: "JSON is nested more than 32 levels deep"
            case .nul: "text must not contain U+0000"
            case .duplicate: "stands twice in one object"
            }
        let field = if case .duplicate(let name) = fault.problem { name } else { "" }
        self = .invalidRequest(field: field, reason: reason.with("offset", .integer(Int64(fault.offset))))
    }

    /// Makes the refusal of a body that cannot be decoded.
    ///
    /// - Parameter object: the member of the body that was decoded; empty for the whole body.
    package init(decoding error: any Error, in object: String = "") {
        func place(_ place: String) -> String {
            object.isEmpty || place.isEmpty ? object + place : "\(object).\(place)"
        }
        switch error {
        case let error as GatewayError: self = error
        case let misfit as JSONMisfit:
            let reason: LocalizedText =
                switch misfit.problem {
                case .missing: "is missing"
                case .type(let type): .type(type)
                case .words(let words): .words(words)
                }
            self = .invalidRequest(field: place(misfit.place), reason: reason)
        case DecodingError.dataCorrupted(let context):
            self = .invalidRequest(
                field: place(JSONMisfit.place(context.codingPath)),
                reason: LocalizedText(stringLiteral: context.debugDescription))
        default: self = .internalError
        }
    }
}

/// A patch of an object (RFC 7396), whose unknown members are refused as in any other body.
package struct Patch<Object: Decodable>: Decodable {
    package let value: JSONValue

    package init(from decoder: any Decoder) throws {
        if decoder.isSurvey { _ = try? Object(from: decoder) }
        value = decoder.isSurvey ? .object([:]) : try JSONValue(from: decoder)
        guard case .object = value else {
            throw JSONMisfit(place: JSONMisfit.place(decoder.codingPath), problem: .type(.object))
        }
    }
}

extension Patch: Sendable where Object: Sendable {}
