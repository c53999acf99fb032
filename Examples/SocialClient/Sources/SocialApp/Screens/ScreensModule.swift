import UDI

/// Screens that are made with an argument.
struct ScreensModule: UDIModule {
  func register(in context: UDIContext) {
    context.register(ProfileModel.self, lifetime: .unique) { @MainActor (_, handle: Handle) in ProfileModel(of: handle)
    }
    context.register(ConversationModel.self, lifetime: .unique) { @MainActor (_, post: Int) in
      ConversationModel(about: post)
    }
  }
}
