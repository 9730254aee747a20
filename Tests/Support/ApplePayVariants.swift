import Foundation
import SwiftASN1

extension ApplePayVariant {
    /// Turns the recipe into one of this variant.
    package func edit(_ recipe: inout ApplePayRecipe) {
        editContent(&recipe)
        editChain(&recipe)
        editMarkers(&recipe)
        editMessage(&recipe.signer, recipe.version)
        editBinding(&recipe)
        editForm(&recipe)
        editSimulator(&recipe)
    }

    private func editContent(_ recipe: inout ApplePayRecipe) {
        switch self {
        case .leadingZero: recipe.hasLeadingZero = true
        case .dataTampered:
            recipe.editData = { fields in
                var data = Data(base64Encoded: fields["data"]?.replacing("\"", with: "") ?? "") ?? Data()
                data[0] ^= 1
                fields["data"] = ApplePayRecipe.base64(Array(data))
            }
        case .dataCutOff: recipe.editData = { $0["data"] = ApplePayRecipe.base64(Array(1...17)) }
        case .amountResealed:
            recipe.resealed = Array(
                #"{"transactionAmount":1,"currencyCode":"156","paymentDataType":"3DSecure"}"#.utf8)
        case .wrongKey: recipe.recipient = recipe.version == .ec ? .newP256() : ApplePayTestTokens.leafRSA.key
        case .unknownKeyHash: recipe.publicKeyHash = [UInt8](repeating: 7, count: 32)
        case .shortKeyHash: recipe.publicKeyHash.removeLast()
        case .pointOffCurve: recipe.editKey = { $0.dropLast() + [($0.last ?? 0) ^ 1] }
        case .pointOnOtherCurve:
            // The name of P-384 in the place of P-256's, which also changes the length.
            recipe.editKey = { _ in
                ApplePayDER.sequence(
                    ApplePayDER.sequence(
                        ApplePayDER.oid([1, 2, 840, 10_045, 2, 1]), ApplePayDER.oid([1, 3, 132, 0, 34])),
                    ApplePayDER.element(0x03, [[0, 4], [UInt8](repeating: 1, count: 96)]))
            }
        case .wrappedKeyShort: recipe.editKey = { Array($0.dropLast()) }
        default: break
        }
    }

    private func editMessage(_ signer: inout ApplePaySigner, _ version: ApplePayRecipe.Version) {
        switch self {
        case .derEncoding: signer.isDER = true
        case .generalizedTime: signer.usesGeneralizedTime = true
        case .digestWithoutParameters: signer.digestHasParameters = false
        case .rsaEncryptionName: signer.algorithm = ApplePaySigner.rsa
        case .withoutAlgorithmProtection: signer.attributes?.removeAll { $0 == .algorithmProtection }
        case .unsignedAttribute:
            signer.unsignedAttributes = ApplePayDER.element(
                0xA1,
                [
                    ApplePayDER.sequence(
                        ApplePayDER.oid([1, 2, 840, 113_549, 1, 9, 52]), ApplePayDER.element(0x31, [ApplePayDER.null]))
                ])
        case .contentAttached: signer.isAttached = true
        case .signerDuplicated: signer.signers = 2
        case .noSigner: signer.signers = 0
        case .versionThree: signer.version = 3
        case .signedAttributesMissing: signer.attributes = nil
        case .attributesUnordered: signer.isOrdered = false
        case .attributeRepeated: signer.attributes?.append(.messageDigest)
        case .contentTypeMissing: signer.attributes?.removeAll { $0 == .contentType }
        case .signingTimeMissing: signer.attributes?.removeAll { $0 == .signingTime }
        case .messageDigestMissing: signer.attributes?.removeAll { $0 == .messageDigest }
        case .contentTypeOther: signer.contentType = [1, 2, 840, 113_549, 1, 7, 2]
        case .messageDigestOther: signer.messageDigest = [UInt8](repeating: 1, count: 32)
        case .digestSHA1: signer.digest = .sha1
        case .digestSHA384: signer.digest = .sha384
        case .algorithmOther:
            signer.algorithm =
                version == .ec
                ? ApplePaySigner.rsaWithSHA256 : ApplePayDER.sequence(ApplePayDER.oid([1, 2, 840, 10_045, 4, 3, 2]))
        case .signatureOverContent: signer.ignoresAttributes = true
        case .signatureTampered: signer.flipsSignature = true
        case .signatureOfOther: signer.key = version == .ec ? .newP256() : ApplePayTestTokens.processingRSA.key
        case .signingTimeStale: signer.signedAt -= 3_600
        case .signingTimeFuture: signer.signedAt += 3_600
        default: break
        }
    }

    private func editBinding(_ recipe: inout ApplePayRecipe) {
        func setHeader(_ name: String, _ value: String?) { recipe.editHeader = { $0[name] = value } }
        switch self {
        case .applicationDataAdded:
            recipe.applicationData = nil
            setHeader("applicationData", ApplePayRecipe.hex([UInt8](repeating: 9, count: 32)))
        case .applicationDataRemoved, .applicationDataChanged, .applicationDataShort:
            recipe.applicationData = recipe.applicationData ?? Array("asked".utf8)
            setHeader(
                "applicationData",
                self == .applicationDataRemoved
                    ? nil
                    : ApplePayRecipe.hex([UInt8](repeating: 9, count: self == .applicationDataShort ? 31 : 32)))
        case .transactionIDChanged:
            setHeader("transactionId", ApplePayRecipe.hex([UInt8](repeating: 8, count: 32)))
            recipe.editToken = { $0["transactionIdentifier"] = ApplePayRecipe.hex([UInt8](repeating: 8, count: 32)) }
        case .transactionIDOdd: setHeader("transactionId", "\"\(String(repeating: "a", count: 63))\"")
        case .transactionIDShort: recipe.transactionID.removeLast()
        case .transactionIdentifierOther:
            recipe.editToken = { $0["transactionIdentifier"] = "\"\(String(repeating: "AB", count: 32))\"" }
        case .transactionIdentifierEmpty: recipe.editToken = { $0["transactionIdentifier"] = "\"\"" }
        default: break
        }
    }

    private func editForm(_ recipe: inout ApplePayRecipe) {
        let isEC = recipe.version == .ec
        func setData(_ name: String, _ change: @escaping @Sendable (String) -> String) {
            recipe.editData = { $0[name] = change($0[name] ?? "") }
        }
        switch self {
        case .versionSwapped: setData("version") { _ in isEC ? #""RSA_v1""# : #""EC_v1""# }
        case .versionUnknown: setData("version") { _ in #""EC_v2""# }
        case .bothEnvelopes:
            recipe.editHeader = { $0[isEC ? "wrappedKey" : "ephemeralPublicKey"] = ApplePayRecipe.base64([1, 2, 3]) }
        case .noEnvelope: recipe.editHeader = { $0[isEC ? "ephemeralPublicKey" : "wrappedKey"] = nil }
        case .base64Unpadded: setData("data") { _ in "\"\(String(repeating: "A", count: 30))\"" }
        case .base64Spaced: setData("signature") { "\"" + $0.dropFirst().prefix(64) + "\\n" + $0.dropFirst(65) }
        case .base64NotCanonical: setData("data") { _ in "\"\(String(repeating: "A", count: 29))B==\"" }
        case .base64URL: setData("data") { _ in "\"\(String(repeating: "A-_A", count: 9))\"" }
        case .fieldRepeated: setData("data") { "\($0),\"data\":\($0)" }
        case .escapedSlashes: setData("signature") { $0.replacing("/", with: "\\/") }
        case .unknownFields:
            recipe.payment["isNew"] = #"{"at":[1,null]}"#
            recipe.editData = { $0["new"] = "1" }
            recipe.editHeader = { $0["new"] = "[]" }
            recipe.editToken = { $0["billingContact"] = #"{"givenName":"A"}"# }
        default: break
        }
    }

    private func editSimulator(_ recipe: inout ApplePayRecipe) {
        let data: String?
        switch self {
        case .simulatorObject: data = "{}"
        case .simulatorText: data = "\"\""
        case .simulatorNull: data = "null"
        case .simulatorAbsent: data = nil
        default: return
        }
        recipe.editToken = {
            $0["paymentData"] = data
            $0["transactionIdentifier"] = #""Simulated Identifier""#
        }
    }
}
