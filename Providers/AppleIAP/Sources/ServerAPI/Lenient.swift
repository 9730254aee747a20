/// A field of an answer that nothing hangs on: another form than Apple documents counts as absent.
struct Lenient<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) throws { value = try? decoder.singleValueContainer().decode(Value.self) }
}
