struct Account: Hashable, Sendable { let name: String }
