import Domain

extension IDSource {
    /// The caller's own id where it is well formed, else a new one.
    func requestID(_ own: String?) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == 0x2E || byte == 0x5F || byte == 0x2D
        }
        if let own, (1...64).contains(own.utf8.count), own.utf8.allSatisfy(isPlain) { return own }
        return make(Request.self).rawValue
    }
}
