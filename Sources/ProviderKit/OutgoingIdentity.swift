/// The client certificate and the trusted roots of a TLS call; a description or dump shows nothing of them.
public struct OutgoingIdentity: Sendable, Hashable {
    /// PEM: the certificate, followed by its intermediates.
    public let certificates: [UInt8]
    /// The key in PEM.
    public let privateKey: [UInt8]
    /// The only trusted roots of the server's certificate in PEM; nil for the system's.
    public let trustedRoots: [UInt8]?

    public init(certificates: [UInt8], privateKey: [UInt8], trustedRoots: [UInt8]? = nil) {
        self.certificates = certificates
        self.privateKey = privateKey
        self.trustedRoots = trustedRoots
    }
}

extension OutgoingIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "OutgoingIdentity" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
