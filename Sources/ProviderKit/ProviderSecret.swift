/// A key or secret that no description, reflection or dump shows.
public struct ProviderSecret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The secret itself; keep it out of logs, reasons and faults.
    public let value: Value

    public init(_ value: Value) { self.value = value }

    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
