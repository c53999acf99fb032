import UDI

/// Screens that are made with an argument.
struct ScreensModule: UDIModule {
  func register(in context: UDIContext) {
    context.register(ProfileModel.self) { @MainActor (_, handle: Handle) in ProfileModel(of: handle) }
    context.register(ConversationModel.self) { @MainActor (_, post: Int) in ConversationModel(about: post) }
  }
}
