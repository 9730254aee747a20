/// A token that differs from a sound one in one point; the raw values are the words of test reports.
package enum ApplePayVariant: String, CaseIterable, Sendable {
    // Accepted.
    case derEncoding, generalizedTime, certificatesReversed, rootIncluded, digestWithoutParameters, leadingZero
    case rsaEncryptionName, withoutAlgorithmProtection, unsignedAttribute, unknownFields, escapedSlashes
    // The content.
    case dataTampered, dataCutOff, amountResealed, wrongKey, unknownKeyHash, shortKeyHash
    // The chain.
    case foreignRoot, thirdCertificate, leafExpired, leafNotYetValid, intermediateExpired, leafIsAuthority
    case intermediateIsNoAuthority, leafOnP384, leafOfOtherVersion, leafForged, intermediateForged
    case leafMarkerMissing, intermediateMarkerMissing, leafMarkerDoubled, intermediateMarkerDoubled
    case markersSwapped, oneCertificate, noCertificates, leafTwice, signerIsIntermediate
    // The message.
    case contentAttached, signerDuplicated, noSigner, versionThree, signedAttributesMissing, attributesUnordered
    case attributeRepeated, contentTypeMissing, signingTimeMissing, messageDigestMissing, contentTypeOther
    case messageDigestOther, digestSHA1, digestSHA384, algorithmOther, signatureTampered, signatureOfOther
    case signatureOverContent
    // Time.
    case signingTimeStale, signingTimeFuture
    // The data beside the content.
    case applicationDataAdded, applicationDataRemoved, applicationDataChanged, applicationDataShort
    case transactionIDChanged, transactionIDOdd, transactionIDShort, transactionIdentifierOther
    case transactionIdentifierEmpty
    // Form.
    case versionSwapped, versionUnknown, bothEnvelopes, noEnvelope, pointOffCurve, pointOnOtherCurve, wrappedKeyShort
    case base64Unpadded, base64Spaced, base64NotCanonical, base64URL, fieldRepeated
    case simulatorObject, simulatorText, simulatorNull, simulatorAbsent

    /// The versions in which the variant exists.
    package var versions: [ApplePayRecipe.Version] {
        switch self {
        case .leadingZero, .pointOffCurve, .pointOnOtherCurve, .leafOnP384: [.ec]
        case .rsaEncryptionName, .wrappedKeyShort: [.rsa]
        default: ApplePayRecipe.Version.allCases
        }
    }

    /// The raw reason for which the token is refused; nil where it is accepted.
    package var reason: String? {
        switch self {
        case .derEncoding, .generalizedTime, .certificatesReversed, .rootIncluded, .digestWithoutParameters,
            .leadingZero, .rsaEncryptionName, .withoutAlgorithmProtection, .unsignedAttribute, .unknownFields,
            .escapedSlashes:
            nil
        case .dataTampered, .dataCutOff, .amountResealed, .contentTypeOther, .messageDigestOther, .digestSHA1,
            .digestSHA384, .algorithmOther, .signatureTampered, .signatureOfOther, .signatureOverContent,
            .applicationDataAdded, .applicationDataRemoved, .applicationDataChanged, .transactionIDChanged:
            "bad_signature"
        case .wrongKey: "decryption_failed"
        case .unknownKeyHash: "unknown_merchant_key"
        case .foreignRoot, .thirdCertificate, .leafExpired, .leafNotYetValid, .intermediateExpired, .leafIsAuthority,
            .intermediateIsNoAuthority, .leafOnP384, .leafOfOtherVersion, .leafForged, .intermediateForged,
            .signerIsIntermediate:
            "untrusted_chain"
        case .leafMarkerMissing, .intermediateMarkerMissing, .leafMarkerDoubled, .intermediateMarkerDoubled,
            .markersSwapped:
            "wrong_purpose"
        case .signingTimeStale, .signingTimeFuture: "signing_time_out_of_window"
        case .transactionIdentifierOther, .transactionIdentifierEmpty: "transaction_identifier_mismatch"
        case .versionUnknown: "unsupported_version"
        case .simulatorObject, .simulatorText, .simulatorNull, .simulatorAbsent: "simulator_token"
        default: "malformed"
        }
    }

    /// True where the token is refused only at its decryption.
    package var needsKey: Bool { self == .wrongKey || self == .unknownKeyHash }

    /// True where OpenSSL also accepts the message, whose chain, dates and signature it checks at the signing time.
    package var isMessageSound: Bool {
        reason == nil || needsKey || [.transactionIdentifierOther, .transactionIdentifierEmpty].contains(self)
    }
}
