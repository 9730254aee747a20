import Foundation
import _CryptoExtras

/// The key of all receipts here, and of their three certificates.
///
/// It is stored here because an RSA key cannot be derived from a name: a seed of one process verifies in another only
/// with the same key. Only this fuzzer trusts it.
enum ReceiptKey {
    static let key = Harness.minted {
        try _RSA.Signing.PrivateKey(derRepresentation: Data(base64Encoded: text) ?? Data())
    }

    private static let text = """
        MIIEowIBAAKCAQEA6kWEJV4fON4922L4cUEu++FzjtZrgWZDdsOVkVcEZeXbyORqNnvTClcRFSR7Eot3ooVqoS494j8cSdn3LRqy4w6c\
        ugVKId5KRDFjwQeWJt/sSsMFl/p7ztjMh/1M3ng2cGUYZOZJmhJvLkmkN4Ad3NmCog4QjzBJb514pDoPJjnJeF+DAaSDGz3e03/VMVDe\
        a6XPMecyY5DT8Lga6EXGg+0YcFvW07U+cJMgf5oTKIg229XpMNgJJZuKRwIJsiaW7dhwkyT6eS/sXqgbVtgrgjiTHWxujxj1SpcXnldP\
        BEZ1ix4bS7ohvBIcBjZsJErnSMBmi3FxPm0XPRWsJDETnQIDAQABAoIBAAkmrgLHqnCOPdxUAWBrK2qrY9gwiAKF/BynhzAmNgXE9NDk\
        G0IFlDjTLdellSkkSYgPrhqds80iqfg4i283m8VCzNx3WG36QOxpAXyIz1S1aoWBGLbXEf8CePrW6inGiFnbmRhX5ogeMDmepsuENaZq\
        2K973Sm6uSOjAxNnMTBM/m3T9LQYHf1s3v7BevYaUnQ7IDReSh6pxF2zq7dabDFS8z8Xh5TbmYnQIWo0aE081FEsRxjUf1b9Fd+VMy2Z\
        efJfs+A85uVxUpeP7U996xAQrn9E9nnXThjbqopVLYOwcfdL7CQSsNIW8ejAtx/07po8jkMbQvJftU+U95SBmAECgYEA+/Y5AzPTlxSk\
        6ifper0QvQ22g8p6p7hWgRhekZG9RMuTbb23SgZmrde4MfG7O43vu7jNLxXjhrZzSLbZf2s060OcRq8wwBPyfu/ZtfuttuBHrSe//DZz\
        VEBKtKXjfd1rOt/3jxuuXDeOtYUaA3C6oUYV+siRtNQvSop0qJHaOVsCgYEA7ga2Pv+76d8cg4HwlOVSeYL6DQ35fixwa7K+/qK4JvIJ\
        NbGQrsNjhnSwNYVJyqOuubyTGZgyF6+DxRimqf9HUOFFI38Tg8LRbItatWoLAAjEPfbteN2rPDlScl7hbqpCqeT2NDAprqO8mbwMa9WO\
        0UsmXv64uw0tB/gATDlsAGcCgYBc1MD4rxWcKl0AcKgTMqmCHhVKxUUfmkk00xe0pm+Hc0HkQuvO+EDIeBxDOn7zWD4ledcPLA9iSMJ8\
        3fGQgp1CuOxRFqbtfevwXMpnxEyifkuqPmT7tcwUFIPxvtTsQLILRQ1eyqIZE9ceheWpstTwKnRaq58TcsHhwtVsbiBq1QKBgEOQnizV\
        1NZ3IZXmzY7GZZneZvJLtDVvkd3QWEzZjaJoc9rM83/YMKka+GXI1wBxZAiPEcZjIFz+0k2hSLXao7i+qSyBRt3Q8Dd6ex4h4st4sZPR\
        QulbKt8melPCwQTzyYaGWqjHvx02lzOgYHo/nZGlXlf6wB9AhzbK2/LHHfQjAoGBAIgn06wFYx/k6/6dWiZ5pRzfLlUL5TzaIjzdaTla\
        +6eWgIiOfPE1SaYXKw5IX/Yl0OPwgyQxklFuCvpVUp1aaaCGEoIxSbE5co5A6dfZgzw1e04/8zmvfVqzChn+DMTKpLYwIKSjtXFyupxx\
        oTvLDOUkm0EOEnF03Hq1ZLW2ubVW
        """
}
