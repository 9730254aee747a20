import Foundation
import Testing

@testable import WeChatPayProvider

/// Decryption by keys of both lengths; a faulty nonce is an error.
struct WeChatPayResourceTests {
    private func resource(
        _ key: String, nonce: String = "0123456789ab", associated: String? = "x"
    ) throws
        -> WeChatPayResource
    {
        let object = WeChatPayTestCertificates.sealed(Data("plain".utf8), key, nonce: nonce, associated: associated)
        return try JSONDecoder().decode(
            WeChatPayResource.self, from: JSONSerialization.data(withJSONObject: object))
    }

    @Test(arguments: [16, 32]) func `a key of either length opens what it sealed`(length: Int) throws {
        let key = String(repeating: "k", count: length)
        for associated in ["certificate", "", nil] as [String?] {
            #expect(try resource(key, associated: associated).opened(by: Array(key.utf8)) == Data("plain".utf8))
        }
        #expect(throws: WeChatPayResource.Fault.authentication) {
            try resource(key).opened(by: Array(String(repeating: "j", count: length).utf8))
        }
    }

    @Test(arguments: ["", "0", "0123456789a", "0123456789abc", "0123456789abcdef", "六六六六"])
    func `a nonce of another length is an error`(nonce: String) throws {
        let key = String(repeating: "k", count: 32)
        let good = try resource(key)
        let bad = WeChatPayResource(
            algorithm: good.algorithm, ciphertext: good.ciphertext, nonce: nonce, associated_data: "x")
        let isTwelve = nonce.utf8.count == 12
        #expect(throws: isTwelve ? WeChatPayResource.Fault.authentication : .nonce) {
            try bad.opened(by: Array(key.utf8))
        }
    }

    @Test(arguments: [0, 1, 15, 17, 24, 33]) func `a key of no length of AES opens nothing`(length: Int) throws {
        let resource = try resource(String(repeating: "k", count: 32))
        #expect(throws: WeChatPayResource.Fault.authentication) {
            try resource.opened(by: [UInt8](repeating: 0x6B, count: length))
        }
    }
}
