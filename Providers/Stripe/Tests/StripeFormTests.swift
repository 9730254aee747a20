import Testing

@testable import StripeProvider

struct StripeFormTests {
    @Test(
        arguments: [
            ([], ""), ([("a", .text("b"))], "a=b"), ([("a", .text(""))], "a="),
            ([("a", .integer(-5)), ("b", .integer(.max))], "a=-5&b=9223372036854775807"),
            ([("a", .boolean(true)), ("b", .boolean(false))], "a=true&b=false"),
            ([("a", nil), ("b", .text("c"))], "b=c"),
            ([("a", .list([.text("x"), .text("y")]))], "a[0]=x&a[1]=y"), ([("a", .list([]))], ""),
            ([("a", .map(StripeForm([("b", .text("c")), ("d", .integer(1))])))], "a[b]=c&a[d]=1"),
            (
                [("a", .list([.map(StripeForm([("b", .map(StripeForm([("c", .boolean(true))])))]))]))],
                "a[0][b][c]=true"
            ),
            ([("a", .text("1 2+3"))], "a=1%202%2B3"), ([("a", .text("x&y=z"))], "a=x%26y%3Dz"),
            ([("a", .text("[]%"))], "a=%5B%5D%25"), ([("a", .text("é你🎉"))], "a=%C3%A9%E4%BD%A0%F0%9F%8E%89"),
            ([("a", .text("-._~"))], "a=-._~"), ([("a", .text("\r\n\0"))], "a=%0D%0A%00"),
            ([("a", .map(StripeForm([("b]&c", .text("d"))])))], "a[b%5D%26c]=d"),
        ] as [([(String, StripeParameter?)], String)])
    func `forms are written as Stripe reads them`(members: [(String, StripeParameter?)], text: String) {
        #expect(StripeForm(members.map { (name: $0.0, value: $0.1) }).encoded == text)
    }

    @Test(arguments: [
        ("pi_3Nk0", true), ("cs_test_a1", true), ("re_1", true), ("", false), ("..", false), ("pi_1/../refunds", false),
        ("pi_1?x=1", false), ("pi 1", false), ("pi_é", false), (String(repeating: "a", count: 255), true),
        (String(repeating: "a", count: 256), false),
    ])
    func `an id is a word or leads nowhere`(text: String, isGood: Bool) {
        #expect((StripeText.id(text) != nil) == isGood)
    }
}
