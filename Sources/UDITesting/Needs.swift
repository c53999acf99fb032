public import Testing
public import UDI

/// Checks that objects of the given classes would find the dependencies that they require.
///
/// The function makes and attaches no objects. It fails the test for each property with the wrapper `@Required` whose
/// type a lookup would not find.
///
/// ```swift
/// @Test(.ownAppContext { compose($0) }) func screensHaveWhatTheyNeed() {
///   expectNeedsAreMet(by: Timeline.self, Composer.self)
/// }
/// ```
///
/// For a property with the wrapper `@Linked` for which nothing would be found, there is only a warning. There is also
/// only a warning for a type that is registered under names only, or only where the context's search does not look.
/// This is because only an object knows the name and the search of a property: see the form that takes an object. For a
/// property with the wrapper `@Followed`, there is a warning only if its dependency is registered under another type,
/// or is part of a scope that the context is not in.
///
/// - Parameters:
///   - classes: The classes. Properties that they inherit count.
///   - context: The context to which the objects will be attached.
///   - sourceLocation: The place at which the issues are recorded.
/// - Complexity: O(properties), and the complexity of `explain` for each.
public func expectNeedsAreMet(
  by classes: AnyClass..., in context: UDIContext = AppContext, sourceLocation: SourceLocation = #_sourceLocation
) {
  for type in classes {
    // Only the type is known, and no name or search.
    for need in Need.all(of: type) { need.check(context.explain(need.type), isRequestKnown: false, sourceLocation) }
  }
}

/// Checks that an object finds the dependencies that it requires in a context, whether it is attached yet or not.
///
/// The function fails the test for each property with the wrapper `@Required` that would find nothing, under the name
/// and with the search of the property.
///
/// For a property with the wrapper `@Linked` that would find nothing, there is only a warning. For a property with the
/// wrapper `@Followed`, there is a warning only if its dependency is registered under another type, or is part of a
/// scope that the context is not in. The object is not changed, and nothing is made.
///
/// - Parameters:
///   - object: The object.
///   - context: The context to which the object will be attached. By default, the context that it is attached to, or
///     `AppContext` if it is attached to none.
///   - sourceLocation: The place at which the issues are recorded.
/// - Complexity: O(properties), and the complexity of `explain` for each.
public func expectNeedsAreMet(
  by object: some UDIObject, in context: UDIContext? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
  let context = context ?? object.attachedContext ?? AppContext
  let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  for need in Need.all(of: type(of: object)) {
    guard let explanation = unsafe context.explanation(ofProperty: address + need.offset) else { continue }
    need.check(explanation, isRequestKnown: true, sourceLocation)
  }
  withExtendedLifetime(object) {}
}

/// A property of a class that has a wrapper which looks something up.
private struct Need {
  let property: String
  let type: Any.Type
  let isRequired: Bool
  /// Whether it is normal that nothing is there.
  let isFollowed: Bool
  /// Where an object stores the property, in bytes.
  let offset: Int

  /// The properties of a class.
  static func all(of type: AnyClass) -> [Need] {
    TypeLayout(type).strongFields.compactMap { field in
      guard let wrapper = field.type.map({ TypeLayout($0) }) else { return nil }
      let isRequired = wrapper.isOfSameGenericType(as: Required<Never>.self)
      let isFollowed = wrapper.isOfSameGenericType(as: Followed<Never>.self)
      guard isRequired || isFollowed || wrapper.isOfSameGenericType(as: Linked<Never>.self),
        let wrapped = unsafe wrapper.genericArguments?.pointee
      else { return nil }
      // The name of the property that stores the wrapper begins with an underscore.
      let property = "\(type).\(field.name.dropFirst())"
      return Need(
        property: property, type: wrapped, isRequired: isRequired, isFollowed: isFollowed, offset: field.offset)
    }
  }

  func check(_ explanation: UDIExplanation, isRequestKnown: Bool, _ sourceLocation: SourceLocation) {
    var isCertain = true
    switch explanation.cause {
    case .found: return
    case .otherNames, .outOfReach: isCertain = isRequestKnown
    case .otherType, .moreGeneralType, .noScope, .inScope: break
    default: if isFollowed { return }
    }
    Issue.record(
      "\(property) would find nothing. \(explanation)", severity: isRequired && isCertain ? .error : .warning,
      sourceLocation: sourceLocation)
  }
}
