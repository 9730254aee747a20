/// A key or secret that descriptions, reflection and dumps do not show.
struct WeChatPaySecret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let value: Value

    init(_ value: Value) { self.value = value }

    var description: String { "<secret>" }
    var debugDescription: String { "<secret>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
