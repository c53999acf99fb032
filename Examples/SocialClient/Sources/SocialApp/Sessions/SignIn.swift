/// Exchanges a password for a client with a token, and remembers both the account and the token.
struct SignIn: Sendable {
  let client: APIClient
  let vault: TokenVault
  let accounts: AccountList

  func logIn(_ handle: Handle, password: String) async throws -> SessionClient {
    guard case .token(let token) = try await client.send(.logIn(handle, password: password)) else {
      throw RequestError.unexpectedReply
    }
    vault[handle] = token
    accounts.add(handle)
    return SessionClient(client: client, token: token)
  }
}
