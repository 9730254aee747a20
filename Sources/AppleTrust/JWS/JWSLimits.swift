/// The limits on a peer's JWS.
public enum JWSLimits {
    /// Bytes of the whole compact text; Apple's notifications have some 15 KiB.
    public static let text = 65_536
    /// Bytes of one certificate.
    static let certificate = 8_192
}
