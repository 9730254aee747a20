// Identifiers, addresses and secrets are written in these encodings in every layer, so who imports the domain has them too.
@_exported public import Encodings
