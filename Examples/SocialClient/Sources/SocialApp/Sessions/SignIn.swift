/// Exchanges a password for a token, and remembers both the account and the token.
struct SignIn: Sendable {
  let client: APIClient
  let vault: TokenVault
  let accounts: AccountList

  func logIn(_ handle: Handle, password: String) async throws -> Token {
    guard case .token(let token) = try await client.send(.logIn(handle, password: password)) else {
      throw RequestError.unexpectedReply
    }
    vault[handle] = token
    accounts.add(handle)
    return token
  }
}
