/// A key or secret that descriptions, reflection and dumps do not show.
struct StripeSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let value: String

    init(_ value: String) { self.value = value }

    var description: String { "<secret>" }
    var debugDescription: String { "<secret>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
