import SocialApp
import UDI

let server = SocialServer()
AppContext.install(AppModule(server: server))
try await Script(root: AppContext, server: server) { print($0) }.run()
