import Foundation
import ProviderKit
import Testing

struct FormFieldsTests {
    private func joined(_ text: String, without names: Set<String> = [], dropsEmpty: Bool = false) -> String? {
        FormFields(Data(text.utf8)).map {
            String(decoding: $0.joined(without: names, dropsEmpty: dropsEmpty), as: UTF8.self)
        }
    }

    @Test func `fields are joined by the order of their bytes, decoded`() {
        #expect(joined("b=2&a=1&B=%26%3D+x&_=%e4%bc%9a") == "B=&= x&_=会&a=1&b=2")
        #expect(joined("a=&b=1&&c", dropsEmpty: true) == "b=1" && joined("a=&b=1&&c") == "a=&b=1&c=")
        #expect(joined("a=b=c&sign=x&sign_type=y", without: ["sign", "sign_type"]) == "a=b=c")
        #expect(joined("") == "" && FormFields(Data())?.isEmpty == true)
    }

    @Test(arguments: ["a=%", "a=%1", "a=%g1", "%", "=x", "a=1&a=1", "a=1&%61=2", "a=+%+"])
    func `what two could read differently is refused`(text: String) {
        #expect(FormFields(Data(text.utf8)) == nil)
    }

    @Test func `what is too much is refused`() {
        let many = (0..<FormFields.countLimit).map { "n\($0)=" }.joined(separator: "&")
        #expect(FormFields(Data(many.utf8)) != nil && FormFields(Data((many + "&x=").utf8)) == nil)
        #expect(FormFields(Data("a=".utf8) + Data(repeating: 0x61, count: FormFields.sizeLimit)) == nil)
    }

    @Test func `a field is text that is there`() throws {
        let fields = try #require(FormFields(Data("a=1&b=&c=%ff&d=%e4%bc%9a".utf8)))
        #expect(fields["a"] == "1" && fields["d"] == "会")
        #expect(fields["b"] == nil && fields["c"] == nil && fields["e"] == nil)
    }

    @Test func `what is written is read again`() {
        let values = ["a": "x y&z=1/+%", "A": "会员", "~-._": "", "é": "🧾"]
        let text = FormFields.encoded(values)
        #expect(text == "A=%E4%BC%9A%E5%91%98&a=x%20y%26z%3D1%2F%2B%25&~-._=&%C3%A9=%F0%9F%A7%BE")
        #expect(
            FormFields(Data(text.utf8)).map { fields in values.allSatisfy { fields[$0.key] ?? "" == $0.value } } == true
        )
    }
}
